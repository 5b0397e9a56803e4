package coll

import "math/bits"

// allreduceDoubling combines with partners at distance 1, 2, 4 ...: log2 n steps, each with the
// whole buffer. When n is not a power of two, each of the first even ranks sends its operand to
// the rank above, takes no part in the steps, and receives the result in the end. Both partners
// of a step compute the same expression, with the lower ranks to the left, so that all members
// get the same bits.
//
// Rounds: fold, exchange for every step, unfold.
func allreduceDoubling(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	steps := bits.Len(uint(n)) - 1
	extra := n - 1<<steps // number of ranks that take no part in the steps
	folded := me < 2*extra
	if folded && me%2 == 0 {
		if s.round == 0 {
			s.sendTo(me+1, s.Send.Mem)
			return true
		}
		s.recvFrom(me+1, s.Recv.Mem)
		return false
	}
	in := s.temp(s.Send.Len())
	v := me - extra // number among the ranks that take part in the steps
	if folded {
		v = me / 2
	}
	step := s.round - 1
	switch {
	case s.round == 0:
		if folded {
			s.recvFrom(me-1, in)
			s.reduce(s.Recv.Mem, in, s.Send.Mem)
		} else {
			s.copy(s.Recv.Mem, s.Send.Mem)
		}
		return folded || steps > 0
	case step == steps: // only ranks that have folded another one reach this step
		s.sendTo(me-1, s.Recv.Mem)
		return false
	}
	w := v ^ 1<<step
	partner := w + extra
	if w < extra {
		partner = 2*w + 1
	}
	s.recvFrom(partner, in)
	s.sendTo(partner, s.Recv.Mem)
	if w < v {
		s.reduce(s.Recv.Mem, in, s.Recv.Mem)
	} else {
		s.reduce(s.Recv.Mem, s.Recv.Mem, in)
	}
	return folded || step+1 < steps
}
