package coll

import (
	"github.com/halo-mpi/halo/internal/coll/args"
	"github.com/halo-mpi/halo/internal/mem"
)

// alltoallDirect exchanges with all others at once. Each member begins with its next neighbours,
// so that not all members begin with the same one.
func alltoallDirect(s *schedule) bool { return s.exchange(directWindow) }

// exchange sends blocks to k other members, and receives theirs, in each round. Empty blocks of
// an Alltoallv or Alltoallw are not sent. In place, the first round copies the blocks to send to
// scratch memory.
func (s *schedule) exchange(k int) bool {
	n, me, round := s.c.Size(), s.c.Rank, s.round
	inPlace := s.inPlace || mem.Same(s.Send.Mem, s.Recv.Mem)
	if !inPlace && round == 0 {
		s.copy(s.recvBlock(me), s.sendBlock(me))
	}
	if inPlace {
		if round == 0 {
			if s.kind != Alltoallw {
				s.copy(s.temp(s.Send.Len()), s.Send.Mem)
				return true
			}
			for r := range n {
				s.copy(s.outBlock(r, true), s.sendBlock(r))
			}
			return true
		}
		round--
	}
	lo, hi := window(round, k, n)
	for i := lo; i < hi; i++ {
		from, to := (me-i+n)%n, (me+i)%n
		if b := s.recvBlock(from); b.Len() > 0 {
			s.recvFrom(from, b)
		}
		if b := s.outBlock(to, inPlace); b.Len() > 0 {
			s.sendTo(to, b)
		}
	}
	if hi == n && inPlace {
		s.copy(s.recvBlock(me), s.outBlock(me, true))
	}
	return hi < n
}

// outBlock returns the block to send to rank r. In place it is a copy, in scratch memory with
// the copies of all other blocks.
func (s *schedule) outBlock(r int, inPlace bool) mem.Mem {
	switch {
	case !inPlace:
		return s.sendBlock(r)
	case s.kind == Alltoallw:
		last := s.c.Size() - 1
		return args.Block(s.temp(s.SendDispls[last]+s.SendCounts[last]), r, 0, 1, s.SendCounts, s.SendDispls)
	}
	return args.Block(s.temp(s.Send.Len()), r, s.unit, s.Send.Width, s.SendCounts, s.SendDispls)
}
