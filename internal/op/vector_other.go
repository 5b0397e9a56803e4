//go:build (!amd64 && !arm64) || race

package op

func (k Kernel) vector(o Op, t Type, dst, a, b *byte, n int) bool { return false }

func (k Kernel) addresses(to *[tableSize]uintptr) {}
