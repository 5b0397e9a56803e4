package sys

// unknownMemory is the assumed size of memory in bytes where the system does not report it: larger than
// any sensible allocation, and possible.
const unknownMemory = 1 << 40
