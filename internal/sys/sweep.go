package sys

import (
	"sync/atomic"
	"unsafe"
)

// swept records for memory, by a hash of its address, whether the next sweep goes downwards.
var swept [64]atomic.Uint32

// SweepDown reports whether a sweep through long memory at p, piece by piece, should go downwards. It
// alternates the directions of sweeps, because the end of the last sweep is still in the nearest cache. A
// sweep that starts there finds it in the cache; one that starts at the other end evicts it before it
// arrives. SweepDown costs some 10 ns. Memory that shares an entry, and goroutines that call at the same
// time, may get the same direction twice, which does no harm.
func SweepDown(p unsafe.Pointer) bool {
	turn := &swept[uint64(uintptr(p))*0x9E3779B97F4A7C15>>58]
	down := turn.Load()
	turn.Store(1 - down)
	return down != 0
}
