package coll

import "math/bits"

// allgatherBruck doubles in each step what a rank has: contributions of the
// ranks from its own upwards, in ceil(log2 n) steps; then they are put in order.
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
