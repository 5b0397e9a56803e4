package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// # Types from C
//
// A call from C to Go costs as much as a KiB that is packed. So the C library packs and unpacks
// what is not long by itself: it goes through the same loop programs, step by step as transfer
// and strides do, and with the same vector instructions.
//
// Where fields are, and how long they are valid, is as for windows: see package rma.

// descriptorDepth is how deep programs may be nested that others go through: they have no stack
// that grows.
const descriptorDepth = 16

// Descriptor returns the address of t for code in other languages, which reads size and bounds
// there, and commits the type. It is valid as long as t is reachable. packs says that such code
// may pack and unpack elements, too. It is false for types that are not committed, of which
// this package has not moved an element yet, of no bytes, deeply nested, or in which it is not
// plain that no byte occurs twice.
func (t *Type) Descriptor() (address uintptr, packs bool) {
	n := t.plain.n.Load()
	return uintptr(unsafe.Pointer(t)), n != nil && t.Committed() && n.shallow(descriptorDepth) && n.apart(1, 0)
}

// shallow reports whether a program is nested at most so deep.
func (n *node) shallow(depth int) bool {
	if depth == 0 {
		return false
	}
	for _, s := range n.subs {
		if !s.shallow(depth - 1) {
			return false
		}
	}
	return n.sub == nil || n.sub.shallow(depth-1)
}

// DescriptorLayout is where things are in a Type and its program, and the limits between the
// ways that bytes are moved.
func DescriptorLayout() []shmfmt.Field {
	var t Type
	var n node
	return []shmfmt.Field{
		{Name: "TYPE_PROGRAM", Value: int64(unsafe.Offsetof(t.plain) + unsafe.Offsetof(t.plain.n))},
		{Name: "TYPE_COMMITTED", Value: int64(unsafe.Offsetof(t.committed))}, // 32 bits, 0 or 1
		{Name: "TYPE_SIZE", Value: int64(unsafe.Offsetof(t.lay) + unsafe.Offsetof(t.lay.size))},
		{Name: "TYPE_LB", Value: int64(unsafe.Offsetof(t.lay) + unsafe.Offsetof(t.lay.lb))},
		{Name: "TYPE_UB", Value: int64(unsafe.Offsetof(t.lay) + unsafe.Offsetof(t.lay.ub))},
		{Name: "TYPE_TRUE_LB", Value: int64(unsafe.Offsetof(t.lay) + unsafe.Offsetof(t.lay.trueLB))},
		{Name: "TYPE_TRUE_UB", Value: int64(unsafe.Offsetof(t.lay) + unsafe.Offsetof(t.lay.trueUB))},
		{Name: "TYPE_MOST", Value: int64(unsafe.Offsetof(t.most))},
		{Name: "NODE_KIND", Value: int64(unsafe.Offsetof(n.kind))},
		{Name: "NODE_OFF", Value: int64(unsafe.Offsetof(n.off))},
		{Name: "NODE_SIZE", Value: int64(unsafe.Offsetof(n.size))},
		{Name: "NODE_N", Value: int64(unsafe.Offsetof(n.n))},
		{Name: "NODE_STRIDE", Value: int64(unsafe.Offsetof(n.stride))},
		{Name: "NODE_SUB", Value: int64(unsafe.Offsetof(n.sub))},
		{Name: "NODE_SUBS", Value: int64(unsafe.Offsetof(n.subs))}, // slices: address, length
		{Name: "NODE_OFFS", Value: int64(unsafe.Offsetof(n.offs))},
		{Name: "NODE_CUM", Value: int64(unsafe.Offsetof(n.cum))},
		{Name: "NODE_LO", Value: int64(unsafe.Offsetof(n.lo))},
		{Name: "NODE_HI", Value: int64(unsafe.Offsetof(n.hi))},
		{Name: "NODE_RUNS", Value: int64(unsafe.Offsetof(n.runs))},
		{Name: "NODE_IS_RUN", Value: int64(run)},
		{Name: "NODE_IS_LOOP", Value: int64(loop)},
		{Name: "NODE_IS_LIST", Value: int64(list)},
		{Name: "NODE_IS_PIECES", Value: int64(pieces)},
		{Name: "NODE_IS_SEQ", Value: int64(seq)},
		{Name: "TILE_BYTES", Value: tileBytes},
		{Name: "COLUMN_RUNS", Value: columnRuns},
		{Name: "COLUMN_SIZE", Value: columnSize},
		{Name: "SHORT_LOOP", Value: shortLoop},
		{Name: "MANY_WORDS", Value: manyWords},
		{Name: "SHORT_COPY", Value: shortCopy},
		{Name: "STRING_COPY", Value: stringCopy},
		{Name: "STRING_BLOCK", Value: stringBlock},
		{Name: "SWEEP_PIECE", Value: sweepPiece},
	}
}

// Vectors is the addresses of what moves bytes by vector instructions, in assembly that needs
// nothing of Go, each 0 if this machine has it not: see mover. All are 0 where there are loops
// only.
type Vectors struct {
	Sparse, Blocks     uintptr // (dst, src, dstStep, srcStep, n, size): blocks, Sparse to a few sets of the cache
	String             uintptr // (dst, src, next, n): stringMove
	EveryOther, Gather uintptr // (dst, src, n), (dst, src, dstStep, srcStep, n): words
}

// VectorsHere is those of the best mover of this machine.
func VectorsHere() (v Vectors) {
	var at [6]uintptr
	addresses(&at)
	switch bestMover() {
	case loops:
		return Vectors{}
	case avx2:
		v = Vectors{Sparse: at[0], Blocks: at[1], Gather: at[5]}
	case avx512:
		v = Vectors{Sparse: at[0], Blocks: at[2], EveryOther: at[4], Gather: at[5]}
	}
	if sys.HasERMS() {
		v.String = at[3]
	}
	return v
}
