//go:build !linux && !darwin

package sys

// PhysicalMemory is how much memory the machine may have, in bytes: this
// platform is not asked.
func PhysicalMemory() uint64 { return unknownMemory }
