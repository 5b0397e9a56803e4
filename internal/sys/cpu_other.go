//go:build !linux

package sys

// CurrentCPU is not supported on this platform: it returns -1.
func CurrentCPU() int { return -1 }

// MoveThread is not supported on this platform: it does nothing.
func MoveThread(func(allowed []int) int) {}
