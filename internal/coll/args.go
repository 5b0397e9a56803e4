package coll

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
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
	Call                   call.Number  // the name of the call in checking mode, if not that of its kind
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

// unknown stands for the size of a collective that a member does not know.
const unknown = 1

// sendBlock returns the part of send that goes to, or is reduced for, member r.
func (s *schedule) sendBlock(r int) mem.Mem {
	if s.kind == Alltoallw {
		return s.pairs[0][r].Mem
	}
	return block(s.Send.Mem, r, s.unit, s.Send.width, s.SendCounts, s.SendDispls)
}

// recvBlock returns the part of recv that comes from member r.
func (s *schedule) recvBlock(r int) mem.Mem {
	if s.kind == Alltoallw {
		return s.pairs[1][r].Mem
	}
	return block(s.Recv.Mem, r, s.unit, s.Recv.width, s.RecvCounts, s.RecvDispls)
}

// block returns the r-th block of d: of unit bytes, or as counts and displs say.
func block(d mem.Mem, r, unit, width int, counts, displs []int) mem.Mem {
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

// pack fills in the displacements that are nil.
func (s *schedule) pack() {
	s.SendDispls = packed(&s.offsets[0], s.SendCounts, s.SendDispls)
	s.RecvDispls = packed(&s.offsets[1], s.RecvCounts, s.RecvDispls)
}

// packed returns displs, or if that is nil the displacements of blocks that follow each
// other, in memory that is kept for the next schedule.
func packed(kept *[]int, counts, displs []int) []int {
	if counts == nil || displs != nil {
		return displs
	}
	list, at := (*kept)[:0], 0
	for _, n := range counts {
		list = append(list, at)
		at += n
	}
	*kept = list
	return list
}

// sum adds up counts.
func sum(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// shape derives two lengths from the arguments, which have been checked: that of a
// block, and the size by which the algorithm is chosen. Both are in bytes and the
// same at all members. A size of 0 means that no data moves; the size is
// unknown where a member knows only its own blocks.
func (s *schedule) shape() (unit, size int) {
	ranks, send, recv := s.c.Size(), s.Send.Len(), s.Recv.Len()
	switch s.kind {
	case Bcast:
		return 0, recv
	case Reduce, Allreduce, Scan, Exscan:
		return 0, send
	case Gather, Allgather:
		return send, send
	case Scatter:
		return recv, recv
	case Alltoall:
		return send / ranks, send / ranks
	case ReduceScatterBlock:
		return send / ranks, send
	case ReduceScatter:
		return 0, send
	case Allgatherv:
		return 0, (sum(s.RecvCounts)*s.Recv.width + ranks - 1) / ranks
	}
	return 0, unknown
}

// alone carries out a collective of one member.
func (s *schedule) alone(k Kind) {
	dst, src := s.Recv.Mem, s.Send.Mem
	switch k {
	case Barrier, Bcast, Exscan:
		return
	case Gather, Gatherv, Allgather, Allgatherv:
		dst = s.recvBlock(0)
	case Scatter, Scatterv, ReduceScatter, ReduceScatterBlock:
		src = s.sendBlock(0)
	case Alltoall, Alltoallv, Alltoallw:
		dst, src = s.recvBlock(0), s.sendBlock(0)
	case NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw:
		s.ownEdges(mem.Copy)
		return
	}
	if !mem.Same(dst, src) {
		mem.Copy(dst, src)
	}
}
