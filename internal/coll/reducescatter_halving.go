package coll

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/mem"
)

// reduceScatterHalving exchanges halves with partners at distance n/2, n/4 ... 1: log2 n steps,
// each with half of the data of the step before. When n is not a power of two, each of the first
// even ranks sends its operand to the rank above, which also reduces the block of the lower rank
// and sends it in the end.
//
// Rounds: fold, exchange for every step, unfold.
func reduceScatterHalving(s *schedule) bool {
	n, me, size := s.c.Size(), s.c.Rank, s.Send.Len()
	steps := bits.Len(uint(n)) - 1
	stay := 1 << steps
	extra := n - stay // number of ranks that take no part in the steps
	folded := me < 2*extra
	if folded && me%2 == 0 {
		if s.round == 0 {
			s.sendTo(me+1, s.Send.Mem)
			return true
		}
		s.recvFrom(me+1, s.Recv.Mem)
		return false
	}
	temp := s.temp(2 * size)
	in, sum := temp.First(size), temp.From(size)
	v := me - extra // number among the ranks that take part in the steps
	if folded {
		v = me / 2
	}
	rank := func(v int) int { // the highest rank whose block number v reduces
		if v < extra {
			return 2*v + 1
		}
		return v + extra
	}
	part := func(b mem.Mem, v, k int) mem.Mem { // the blocks of the numbers v to v+k-1
		first := 0
		if v > 0 {
			first = rank(v-1) + 1
		}
		return b.Cut(s.blockOffset(first), s.blockOffset(rank(v+k-1)+1))
	}
	switch {
	case s.round == 0:
		if folded {
			s.recvFrom(me-1, in)
			s.reduce(sum, in, s.Send.Mem)
		} else {
			s.copy(sum, s.Send.Mem)
		}
		return true
	case s.round > steps: // only ranks that have folded another one reach this round
		s.sendTo(me-1, sum.Cut(s.blockOffset(me-1), s.blockOffset(me)))
		return false
	}
	far := stay >> s.round
	partner := v ^ far
	base := v &^ (2*far - 1)
	keep, give := base, base+far
	if v&far != 0 {
		keep, give = give, keep
	}
	s.recvFrom(rank(partner), part(in, keep, far))
	s.sendTo(rank(partner), part(sum, give, far))
	if partner < v {
		s.reduce(part(sum, keep, far), part(in, keep, far), part(sum, keep, far))
	} else {
		s.reduce(part(sum, keep, far), part(sum, keep, far), part(in, keep, far))
	}
	if s.round == steps {
		s.copy(s.Recv.Mem, sum.Cut(s.blockOffset(me), s.blockOffset(me+1)))
		return folded
	}
	return true
}

// blockOffset returns where the block of rank r begins in Send, in bytes. The blocks are
// contiguous.
func (s *schedule) blockOffset(r int) int {
	switch {
	case s.SendCounts == nil:
		return r * s.unit
	case r == len(s.SendCounts):
		return s.Send.Len()
	}
	return s.SendDispls[r] * s.Width
}
