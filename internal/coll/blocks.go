package coll

import (
	"github.com/halo-mpi/halo/internal/coll/args"
	"github.com/halo-mpi/halo/internal/mem"
)

// unknown stands for the size of a collective that a member does not know.
const unknown = 1

// sendBlock returns the part of send that goes to, or is reduced for, member r.
func (s *schedule) sendBlock(r int) mem.Mem {
	if s.kind == Alltoallw {
		return s.pairs[0][r].Mem
	}
	return args.Block(s.Send.Mem, r, s.unit, s.Send.Width, s.SendCounts, s.SendDispls)
}

// recvBlock returns the part of recv that comes from member r.
func (s *schedule) recvBlock(r int) mem.Mem {
	if s.kind == Alltoallw {
		return s.pairs[1][r].Mem
	}
	return args.Block(s.Recv.Mem, r, s.unit, s.Recv.Width, s.RecvCounts, s.RecvDispls)
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
		return 0, (args.Sum(s.RecvCounts)*s.Recv.Width + ranks - 1) / ranks
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
