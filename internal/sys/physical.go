package sys

// unknownMemory is taken for the size of memory where the system does not tell,
// in bytes: a size that no allocation may ask for, but that could be there.
const unknownMemory = 1 << 40
