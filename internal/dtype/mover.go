package dtype

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

//go:generate go run ./gen .

// mover is how bytes are copied: by loops in Go or by vector instructions. The result is
// the same for all movers.
//
// All copying ends in strides, which copies n blocks of one size at two distances, or in
// mover, which copies a run of bytes. Loops in Go copy blocks of up to 32 bytes, vector
// instructions longer ones, and the string instruction long runs; the program gen writes
// the assembly for amd64. The rest is the use of the caches: few stores at strides of
// 1 KiB wait at a time (sparse), words in separate cache lines are prefetched (farWords),
// arrays of structs are copied field by field in tiles (columns), and long runs
// alternately upwards and downwards (mover.sweep).
type mover uint8

const (
	loops mover = iota
	avx2
	avx512
)

// movers lists the movers that this machine supports, the best one last. Builds with the
// race detector have only loops, because the detector does not see accesses in assembly;
// so have all architectures except amd64.
func movers() []mover {
	list := []mover{loops}
	if runtime.GOARCH == "amd64" && !sys.Race && sys.HasAVX2() {
		list = append(list, avx2)
		if sys.HasAVX512() {
			list = append(list, avx512)
		}
	}
	return list
}

// bestMover returns the last entry of movers without making the list.
func bestMover() mover {
	switch {
	case runtime.GOARCH != "amd64" || sys.Race || !sys.HasAVX2():
		return loops
	case sys.HasAVX512():
		return avx512
	}
	return avx2
}

const (
	// longCopy is the number of bytes of short blocks that one call of assembly copies: the
	// scheduler cannot preempt the goroutine during the call.
	longCopy = 256 << 10
	// sweepPiece is the length in bytes of the pieces of a long copy, a part of the first-level
	// cache. Each piece is copied upwards; the order of the pieces may be downwards.
	sweepPiece = 16 << 10
	// shortCopy is the length in bytes from which on vectors are faster than Go's copy.
	shortCopy = 128
	// stringCopy is the length in bytes from which on the string instruction is faster
	// than vectors: source and destination together exceed the first-level cache.
	stringCopy = 24 << 10
	// streamCopy is the length in bytes from which on Go's copy is faster: its stores do not go
	// through the caches, which are too small for source and destination.
	streamCopy = 12 << 20
	// stringBlock is the same length for one of many blocks that together reach stringCopy.
	stringBlock = 8 << 10
	// line is the length of a cache line in bytes.
	line = 64
)

// run copies n bytes from s to d; the two must not overlap.
//
//go:nocheckptr
func (m mover) run(d, s unsafe.Pointer, n int) {
	switch {
	case n >= stringCopy && n < streamCopy:
		m.sweep(d, s, n)
	case m == loops || n < shortCopy || n >= streamCopy:
		copy(unsafe.Slice((*byte)(d), n), unsafe.Slice((*byte)(s), n))
	default:
		m.blocks(d, s, 0, 0, 1, n)
	}
}

// sweep is run for lengths beyond the first-level cache. Pieces begin at cache lines of the
// destination. Their order alternates between upwards and downwards: see sys.SweepDown.
//
//go:nocheckptr
func (m mover) sweep(d, s unsafe.Pointer, n int) {
	skew := int(uintptr(d) % line)
	pieces := (skew + n + sweepPiece - 1) / sweepPiece
	k, step := 0, 1
	if sys.SweepDown(d) {
		k, step = pieces-1, -1
	}
	for range pieces {
		from, to := max(k*sweepPiece-skew, 0), min((k+1)*sweepPiece-skew, n)
		switch d, s, n := unsafe.Add(d, from), unsafe.Add(s, from), to-from; {
		case m == loops || n < shortCopy:
			copy(unsafe.Slice((*byte)(d), n), unsafe.Slice((*byte)(s), n))
		case !sys.HasERMS():
			m.blocks(d, s, 0, 0, 1, n)
		default:
			m.byString(d, s, s, n)
		}
		k += step
	}
}

// byString copies n bytes, at least a cache line, with the string instruction, and prefetches
// the memory at next, which may be an invalid address. m must not be loops.
//
//go:nocheckptr
func (m mover) byString(d, s, next unsafe.Pointer, n int) {
	head := int(-uintptr(d) % line)
	if head > 0 {
		m.blocks(d, s, 0, 0, 1, line)
	}
	stringMove(unsafe.Add(d, head), unsafe.Add(s, head), next, n-head)
}
