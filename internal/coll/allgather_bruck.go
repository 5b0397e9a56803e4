package coll

import "math/bits"

// allgatherBruck takes ceil(log2 n) steps. Each step doubles the number of contributions that a
// rank has: those of its own rank and of the following ones. In the end they are put in the
// order of the ranks.
//
// Rounds: own part, exchange for every step.
func allgatherBruck(s *schedule) bool {
	n, me, size := s.c.Size(), s.c.Rank, s.unit
	all := s.temp(n * size)
	steps := bits.Len(uint(n - 1))
	if s.round == 0 {
		s.copy(all.First(size), s.Send.Mem)
		return true
	}
	have := 1 << (s.round - 1)
	k := min(have, n-have)
	s.recvFrom((me+have)%n, all.Cut(have*size, (have+k)*size))
	s.sendTo((me-have+n)%n, all.First(k*size))
	if s.round < steps {
		return true
	}
	s.copy(s.Recv.From(me*size), all.First((n-me)*size))
	s.copy(s.Recv.First(me*size), all.From((n-me)*size))
	return false
}
