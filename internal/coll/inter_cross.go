package coll

import (
	"github.com/halo-mpi/halo/internal/coll/args"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/mem"
)

// A collective on an intercommunicator is a schedule with stages, like a collective through
// leaders (see division): within the local group by the algorithms for one communicator, and
// between the groups. Data that all members of a group need, or the combined contribution of a
// group, crosses once: between the ranks 0 of both groups, or between one of them and the root.
// Data from one member to one other member goes there directly.

// cross chooses the algorithm of the schedule on an intercommunicator.
func (s *schedule) cross() {
	if s.kind.Rooted() && s.Root == RootNone {
		s.step = func(*schedule) bool { return false }
		return
	}
	switch s.kind {
	case Barrier:
		s.step = crossBarrier
	case Bcast:
		s.step = crossBcast
	case Reduce:
		s.step = crossReduce
	case Allreduce:
		s.step = crossAllreduce
	case Gather, Gatherv:
		s.step = crossGather
	case Scatter, Scatterv:
		s.step = crossScatter
	case ReduceScatter, ReduceScatterBlock:
		s.unit = s.Send.Len() / s.c.Inter.Local.Size()
		s.step = crossReduceScatter
	default:
		s.step = crossExchange
	}
}

// next ends a stage with this round.
func (s *schedule) next() { s.stage, s.began = s.stage+1, s.round+1 }

// athome does a round of a stage in the local group. Each member gives send, or gets recv.
func (s *schedule) athome(k Kind, send, recv mem.Mem) {
	size := send.Len()
	if k == Bcast {
		size = recv.Len()
	}
	if size == 0 {
		s.next()
		return
	}
	s.among(s.c.Inter.Local, s.e.choice.Algorithm(k, size, stateOf(s.c).where, s.Ordered()), send, recv, 0)
}

// crossBarrier is a barrier on the union of both groups, since each group waits for the other.
func crossBarrier(s *schedule) bool {
	s.among(s.c.Inter.Union, choice.BarrierDissemination, mem.Mem{}, mem.Mem{}, 0)
	return s.stage < 1
}

// crossBcast sends from the root to rank 0 of the other group, which broadcasts in its group.
func crossBcast(s *schedule) bool {
	switch {
	case s.Root == RootSelf:
		s.sendTo(0, s.Recv.Mem)
		return false
	case s.stage == 0:
		if s.c.Rank == 0 {
			s.recvFrom(s.Root, s.Recv.Mem)
		}
		s.next()
	default:
		s.athome(Bcast, mem.Mem{}, s.Recv.Mem)
	}
	return s.stage < 2
}

// crossReduce combines at rank 0 of the group that gives, which sends the result to the root.
func crossReduce(s *schedule) bool {
	if s.Root == RootSelf {
		s.recvFrom(0, s.Recv.Mem)
		return false
	}
	sum := s.sumAtHome(1)
	if s.stage == 0 {
		s.athome(Reduce, s.Send.Mem, sum)
		return true
	}
	if s.c.Rank == 0 {
		s.sendTo(s.Root, sum)
	}
	return false
}

// sumAtHome returns memory at rank 0 for the reduction of the local group. It is the first of
// times pieces of this length.
func (s *schedule) sumAtHome(times int) mem.Mem {
	if s.c.Rank != 0 {
		return mem.Mem{}
	}
	return s.keep(times * s.Send.Len()).First(s.Send.Len())
}

// crossAllreduce combines at rank 0 of each group. The two ranks exchange the results, and each
// broadcasts the result that it receives in its group.
func crossAllreduce(s *schedule) bool {
	sum := s.sumAtHome(1)
	switch s.stage {
	case 0:
		s.athome(Reduce, s.Send.Mem, sum)
	case 1:
		if s.c.Rank == 0 {
			s.recvFrom(0, s.Recv.Mem)
			s.sendTo(0, sum)
		}
		s.next()
	case 2:
		s.athome(Bcast, mem.Mem{}, s.Recv.Mem)
	}
	return s.stage < 3
}

// crossReduceScatter is like crossAllreduce, but rank 0 scatters the result that it receives.
func crossReduceScatter(s *schedule) bool {
	sum := s.sumAtHome(2)
	var got mem.Mem
	if s.c.Rank == 0 {
		got = s.keep(2 * sum.Len()).From(sum.Len())
	}
	switch s.stage {
	case 0:
		s.athome(Reduce, s.Send.Mem, sum)
	case 1:
		if s.c.Rank == 0 {
			s.recvFrom(0, got)
			s.sendTo(0, sum)
		}
		s.next()
	case 2:
		s.among(s.c.Inter.Local, choice.ScattervLinear, got, s.Recv.Mem, 0)
	}
	return s.stage < 3
}

// crossGather has each member of the other group send to the root.
func crossGather(s *schedule) bool {
	if s.Root != RootSelf {
		s.sendTo(s.Root, s.Send.Mem)
		return false
	}
	for r := range s.c.Size() {
		s.recvFrom(r, s.incoming(r))
	}
	return false
}

// crossScatter has the root send to each member of the other group.
func crossScatter(s *schedule) bool {
	if s.Root != RootSelf {
		s.recvFrom(s.Root, s.Recv.Mem)
		return false
	}
	for r := range s.c.Size() {
		s.sendTo(r, s.outgoing(r))
	}
	return false
}

// crossExchange has each member exchange with all members of the other group, with as many at a
// time as in alltoallDirect. The distance between two members is counted modulo the size of the
// larger group, so that they exchange with each other in the same round. Empty blocks are not
// sent where both sides know the lengths of the blocks.
func crossExchange(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	size := max(n, s.c.Inter.Local.Size())
	equal := s.kind == Allgather || s.kind == Alltoall
	lo := s.round * directWindow
	hi := min(lo+directWindow, size)
	for i := lo; i < hi; i++ {
		if from := (me - i + size) % size; from < n {
			if b := s.incoming(from); b.Len() > 0 || equal {
				s.recvFrom(from, b)
			}
		}
		if to := (me + i) % size; to < n {
			if b := s.outgoing(to); b.Len() > 0 || equal {
				s.sendTo(to, b)
			}
		}
	}
	return hi < size
}

// incoming returns the memory for the data from rank r of the remote group.
func (s *schedule) incoming(r int) mem.Mem {
	if s.kind == Alltoallw {
		return s.pairs[1][r].Mem
	}
	return args.Block(s.Recv.Mem, r, s.Recv.Len()/s.c.Size(), s.Recv.Width, s.RecvCounts, s.RecvDispls)
}

// outgoing returns the data for rank r of the remote group.
func (s *schedule) outgoing(r int) mem.Mem {
	switch s.kind {
	case Alltoallw:
		return s.pairs[0][r].Mem
	case Allgather, Allgatherv:
		return s.Send.Mem
	}
	return args.Block(s.Send.Mem, r, s.Send.Len()/s.c.Size(), s.Send.Width, s.SendCounts, s.SendDispls)
}
