package dtype

import (
	"runtime"
	"unsafe"

	"github.com/halo-mpi/halo/internal/sys"
)

//go:generate go run ./gen .

// mover is how bytes are moved: by loops in Go, which all the others do the same as,
// or by vector instructions.
type mover uint8

const (
	loops mover = iota
	avx2
	avx512
)

// movers lists those that this machine has, the best one last. The race detector
// does not see what assembly does: under it there are only the loops, as on all but
// amd64.
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

// bestMover is the last of movers, without the list.
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
	// longCopy is how many bytes of short blocks are copied at once: nothing else gets the
	// processor meanwhile.
	longCopy = 256 << 10
	// sweepPiece is how many bytes of a long copy go up in one piece, while the pieces may
	// go down; a part of the first cache.
	sweepPiece = 16 << 10
	// shortCopy is the length from which on vectors are faster than the runtime.
	shortCopy = 128
	// stringCopy is the length from which on the string instruction is faster: when
	// the bytes at both places exceed the first cache.
	stringCopy = 24 << 10
	// stringBlock is that length for each of many blocks, which together exceed it.
	stringBlock = 8 << 10
	// line is that of the caches, in bytes.
	line = 64
)

// run copies n bytes that do not overlap.
//
//go:nocheckptr
func (m mover) run(d, s unsafe.Pointer, n int) {
	switch {
	case n >= stringCopy:
		m.sweep(d, s, n)
	case m == loops || n < shortCopy:
		copy(unsafe.Slice((*byte)(d), n), unsafe.Slice((*byte)(s), n))
	default:
		m.blocks(d, s, 0, 0, 1, n)
	}
}

// sweep is run for what exceeds the first cache. Pieces begin at lines of the destination.
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

// byString copies n bytes, at least a line, by the string instruction, and reads ahead
// what begins at next, which need not be memory. m is not loops.
//
//go:nocheckptr
func (m mover) byString(d, s, next unsafe.Pointer, n int) {
	head := int(-uintptr(d) % line)
	if head > 0 {
		m.blocks(d, s, 0, 0, 1, line)
	}
	stringMove(unsafe.Add(d, head), unsafe.Add(s, head), next, n-head)
}
