//go:build (amd64 || arm64) && !race

package apply

import "unsafe"

// swap16 stores the new 16 bytes at p if the bytes there equal the old ones, and returns the
// previous bytes. p is aligned to 16 bytes. It is one atomic operation and a full fence.
//
//go:noescape
func swap16(p unsafe.Pointer, oldLo, oldHi, newLo, newHi uint64) (lo, hi uint64)
