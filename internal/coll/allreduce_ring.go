package coll

import "github.com/halo-mpi/halo/internal/mem"

// allreduceRing reduces in a ring, then passes the complete shares round the ring.
func allreduceRing(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < n-1 {
		s.ringReduce(s.temp(s.ringShare()), inResult)
		return true
	}
	step := s.round - (n - 1)
	s.recvFrom((me-1+n)%n, s.share(s.Recv.Mem, (me-step+n)%n))
	s.sendTo((me+1)%n, s.share(s.Recv.Mem, (me+1-step+n)%n))
	return step+1 < n-1
}

func inResult(s *schedule, share int) mem.Mem { return s.share(s.Recv.Mem, share) }
