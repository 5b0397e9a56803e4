package args

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll/kind"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
)

// Args is what a member gives to a collective. Fields that the kind does not use are
// zero. In place, Send begins where the member's own part of Recv begins.
//
// Counts and displacements are in elements and belong to the operation until it is
// complete. Without displacements the blocks follow each other.
type Args struct {
	Send, Recv             Side // the buffer of a Bcast is Recv
	Width                  int  // of an element of a slice, or operand, in bytes
	Op                     op.Op
	Type                   op.Type
	Datatype               *dtype.Type  // of the elements of slices, in checking mode
	Call                   call.Number  // the call in checking mode, if not that of its kind
	User                   *op.User     // replaces Op and Type unless nil
	Elem                   reflect.Type // of the elements of slices, where User works on them or something is checked
	Root                   int
	SendCounts, SendDispls []int // of a ReduceScatter: how Send is divided among the members
	RecvCounts, RecvDispls []int
	Outlasts               bool // it goes on when a member has died, as if that had taken part
	Wrong                  int  // 1 + the bytes of Send where an error has taken the place of its memory; 0 if they are not known
}

// WithRoot returns a with a root.
func (a Args) WithRoot(root int) Args {
	a.Root = root
	return a
}

// WithSendBlocks returns a with blocks of Send of these counts, at these displacements unless
// nil.
func (a Args) WithSendBlocks(counts, displs []int) Args {
	a.SendCounts, a.SendDispls = counts, displs
	return a
}

// WithRecvBlocks returns a with blocks of Recv of these counts, at these displacements unless
// nil.
func (a Args) WithRecvBlocks(counts, displs []int) Args {
	a.RecvCounts, a.RecvDispls = counts, displs
	return a
}

// Sum adds up counts.
func Sum(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// Presumed returns the length from which this member, whose arguments are wrong, derives what the
// others do: that of a side that is valid, or the shortest if none is.
func (a *Args) Presumed(k kind.Kind) int {
	if a.Wrong > 0 {
		return a.Wrong - 1
	}
	for _, x := range []*Side{&a.Send, &a.Recv} {
		if x.Err() == nil && (k != kind.Bcast || x == &a.Recv) {
			return x.Len()
		}
	}
	return 1
}

// Block returns the r-th block of d: of unit bytes, or as counts and displs say.
func Block(d mem.Mem, r, unit, width int, counts, displs []int) mem.Mem {
	if counts == nil {
		return d.Cut(r*unit, (r+1)*unit)
	}
	n := counts[r] * width
	if n == 0 {
		return mem.Mem{} // the displacement may have any value
	}
	at := displs[r] * width
	return d.Cut(at, at+n)
}
