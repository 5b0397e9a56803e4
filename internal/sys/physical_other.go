//go:build !linux && !darwin

package sys

// PhysicalMemory returns an assumed size of memory in bytes.
func PhysicalMemory() uint64 { return unknownMemory }
