package coll

import "github.com/halo-mpi/halo/internal/mem"

// dissemination is a barrier in ceil(log2 n) rounds. In round i each member tells the rank 2^i
// above it that it has arrived, and so have all members whose messages it has received.
func dissemination(s *schedule) bool {
	n, me, far := s.c.Size(), s.c.Rank, 1<<s.round
	s.recvFrom((me-far+n)%n, mem.Mem{})
	s.sendTo((me+far)%n, mem.Mem{})
	return far*2 < n
}
