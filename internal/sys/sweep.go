package sys

import (
	"sync/atomic"
	"unsafe"
)

// swept says of memory, by its address, whether it is to be gone through downwards the next
// time.
var swept [64]atomic.Uint32

// SweepDown says in which direction to go through long memory at p, piece by piece: the other
// one than last time. The end of the last sweep is still in the nearest cache; whoever starts
// there finds it, and whoever starts at the other end drives it out before he comes to it. It
// costs some 10 ns. Memory that shares its entry, or goroutines that ask at once, may get the
// same direction twice, which is as good as no advice.
func SweepDown(p unsafe.Pointer) bool {
	turn := &swept[uint64(uintptr(p))*0x9E3779B97F4A7C15>>58]
	down := turn.Load()
	turn.Store(1 - down)
	return down != 0
}
