package coll

import "math/bits"

// allgatherBruck doubles in each step what a rank has: contributions of the
// ranks from its own upwards, in ceil(log2 n) steps; then they are put in order.
//
// Rounds: own part, exchange for every step, two copies.
func allgatherBruck(s *schedule) bool {
	n, me, size := s.c.Size(), s.c.Rank, len(s.send)
	all := s.temp(n * size)
	steps := bits.Len(uint(n - 1))
	switch {
	case s.round == 0:
		s.copy(all[:size], s.send)
	case s.round <= steps:
		have := 1 << (s.round - 1)
		k := min(have, n-have)
		s.recvFrom((me+have)%n, all[have*size:(have+k)*size])
		s.sendTo((me-have+n)%n, all[:k*size])
	case s.round == steps+1:
		s.copy(s.recv[me*size:], all[:(n-me)*size])
	default:
		s.copy(s.recv[:me*size], all[(n-me)*size:])
		return false
	}
	return true
}
