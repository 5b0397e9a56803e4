package coll

import "github.com/halo-mpi/halo/internal/mem"

// dissemination is a barrier in ceil(log2 n) rounds. In round i everyone tells
// the rank 2^i above that it and all those who told it have come.
func dissemination(s *schedule) bool {
	n, me, far := s.c.Size(), s.c.Rank, 1<<s.round
	s.recvFrom((me-far+n)%n, mem.Mem{})
	s.sendTo((me+far)%n, mem.Mem{})
	return far*2 < n
}
