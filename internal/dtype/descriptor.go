package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// # Types from C
//
// A call from C to Go costs as much as packing a KiB. Therefore the C library packs and unpacks
// short data itself: it runs the same loop programs, step by step as transfer and strides do,
// with the same vector instructions.
//
// C reads neither a Type nor its nodes, which are on the Go heap, but a record outside of it
// (shmfmt.Type). The record belongs to the caller, who has one for each handle that C knows. The
// program of the record is written only after this package has moved elements of the type: a
// type that is made, committed and freed unused costs only a few stores.

// Share writes the size, bounds and largest count of t to r for C. From then on t also counts as
// committed when C sets r.Committed. Share returns false if t is not committed and C already has
// another record of t, because C can commit t through one record only; then C must not see r.
// Unshare ends the use of r.
func (t *Type) Share(r *shmfmt.Type) bool {
	r.Committed.Store(0)
	r.Size, r.LB, r.UB, r.TrueLB, r.TrueUB, r.Most = t.lay.size, t.lay.lb, t.lay.ub, t.lay.trueLB, t.lay.trueUB, t.most
	return t.Committed() || t.shared.CompareAndSwap(nil, r)
}

// ShareProgram adds to r, the record of t, the program with which C packs and unpacks elements
// of t. It does nothing if t is not committed, if this package has not moved an element of t yet,
// if an element has no bytes or more than packMost, if apart cannot prove that no byte occurs
// twice, or if the program is nested too deeply or too long. The caller serialises calls for one
// record.
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

// Unshare ends the use of r for t, when C no longer has a handle through which it finds r. If C
// has committed t through r, t stays committed.
func (t *Type) Unshare(r *shmfmt.Type) {
	if t.shared.Load() == r {
		if r.Committed.Load() != 0 {
			t.Commit()
		}
		t.shared.Store(nil) // after t.committed, which Committed loads again after t.shared
	}
	if at := r.Program.Swap(0); at != 0 {
		offheap.FreeBytes(programAt(at, r.ProgramBytes))
	}
}

// programAt is the program at an address outside of the Go heap.
//
//go:nocheckptr
func programAt(at uintptr, n uint32) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)
}

// DescriptorLayout lists the offsets of the fields in the record of a type and in its program,
// and the sizes at which the copy method changes. The C library is generated from it.
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
		{Name: "STREAM_COPY", Value: streamCopy},
		{Name: "SWEEP_PIECE", Value: sweepPiece},
	}...)
}

// Vectors holds the addresses of the assembly functions that copy with vector instructions. They
// need no Go runtime, so C calls them. An address is 0 if this machine lacks the instructions;
// all are 0 if the mover is loops.
type Vectors struct {
	Sparse, Blocks     uintptr // (dst, src, dstStep, srcStep, n, size); Sparse: see sparse
	String             uintptr // (dst, src, next, n): stringMove
	EveryOther, Gather uintptr // (dst, src, n), (dst, src, dstStep, srcStep, n): words
}

// VectorsHere returns the functions of the best mover of this machine.
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
