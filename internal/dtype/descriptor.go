package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/hot"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// # Types from C
//
// A call from C to Go costs as much as a KiB that is packed. So the C library packs and unpacks
// what is not long by itself: it goes through the same loop programs, step by step as transfer
// and strides do, and with the same vector instructions.
//
// C reads neither a Type nor its nodes, which are on the Go heap, but a record outside of it
// (shmfmt.Type). The record belongs to the caller, who has one for each handle that C knows. Its
// program is written when elements have been moved here for the first time: a type that is made,
// committed and freed costs no more than a few stores.

// Share writes to r what C asks of t, and from then on takes t for committed when C says so in
// r. It returns false, and C must not see r, if t is not committed and C already sees another
// record of it: then C can commit t only there. Unshare ends the use of r.
func (t *Type) Share(r *shmfmt.Type) bool {
	r.Committed.Store(0)
	r.Size, r.LB, r.UB, r.TrueLB, r.TrueUB, r.Most = t.lay.size, t.lay.lb, t.lay.ub, t.lay.trueLB, t.lay.trueUB, t.most
	return t.Committed() || t.shared.CompareAndSwap(nil, r)
}

// ShareProgram lets C pack and unpack elements of t, which r describes, if it can. It does
// nothing for types that are not committed, of which this package has not moved an element yet,
// of no bytes or of more than C packs, in which it is not plain that no byte occurs twice, or with
// a program that is nested deeply or long. Calls for one record come one after the other.
func (t *Type) ShareProgram(r *shmfmt.Type) {
	n := t.plain.n.Load()
	if r.Program.Load() != 0 || n == nil || n.size == 0 || n.size > packMost || !t.Committed() || !n.apart(1, 0) {
		return
	}
	if block := n.forC(); block != nil {
		r.ProgramBytes = uint32(len(block))
		r.Program.Store(uintptr(unsafe.Pointer(&block[0]))) // pairs with the load in transfer_all of fast_pack.c
	}
}

// Unshare ends the use of r for t, when C has no handle any more by which it finds r. What C
// has said there t keeps.
func (t *Type) Unshare(r *shmfmt.Type) {
	if t.shared.Load() == r {
		if r.Committed.Load() != 0 {
			t.Commit()
		}
		t.shared.Store(nil) // after the word of t, which Committed loads again behind this one
	}
	if at := r.Program.Swap(0); at != 0 {
		hot.FreeBytes(programAt(at, r.ProgramBytes))
	}
}

// programAt is the program at an address outside of the Go heap.
//
//go:nocheckptr
func programAt(at uintptr, n uint32) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)
}

// DescriptorLayout is where things are in the record of a type and its program, and the limits
// between the ways that bytes are moved.
func DescriptorLayout() []shmfmt.Field {
	return append(shmfmt.TypeLayout(), []shmfmt.Field{
		{Name: "NODE_IS_RUN", Value: int64(run)},
		{Name: "NODE_IS_LOOP", Value: int64(loop)},
		{Name: "NODE_IS_LIST", Value: int64(list)},
		{Name: "NODE_IS_PIECES", Value: int64(pieces)},
		{Name: "NODE_IS_SEQ", Value: int64(seq)},
		{Name: "PACK_MOST", Value: packMost},
		{Name: "TILE_BYTES", Value: tileBytes},
		{Name: "COLUMN_RUNS", Value: columnRuns},
		{Name: "COLUMN_SIZE", Value: columnSize},
		{Name: "SHORT_LOOP", Value: shortLoop},
		{Name: "MANY_WORDS", Value: manyWords},
		{Name: "SHORT_COPY", Value: shortCopy},
		{Name: "STRING_COPY", Value: stringCopy},
		{Name: "STRING_BLOCK", Value: stringBlock},
		{Name: "SWEEP_PIECE", Value: sweepPiece},
	}...)
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
