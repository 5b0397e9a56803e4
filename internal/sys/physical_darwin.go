package sys

import "golang.org/x/sys/unix"

// PhysicalMemory returns how much memory the machine has in bytes.
func PhysicalMemory() uint64 {
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		return n
	}
	return unknownMemory
}
