//go:build (amd64 || arm64) && !race

package apply

import "unsafe"

// swap16 stores the new 16 bytes at p, which is aligned to them, if the old ones stand
// there, and returns what stood there: one atomic operation, a full fence.
//
//go:noescape
func swap16(p unsafe.Pointer, oldLo, oldHi, newLo, newHi uint64) (lo, hi uint64)
