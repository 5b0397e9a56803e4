//go:build !(amd64 || arm64) || race

package apply

import "unsafe"

// hasSwap16 reports whether swap16 works.
func hasSwap16() bool { return false }

func swap16(unsafe.Pointer, uint64, uint64, uint64, uint64) (lo, hi uint64) {
	panic("apply: no atomic operation on 16 bytes")
}
