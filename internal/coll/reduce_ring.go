package coll

import "github.com/halo-mpi/halo/internal/mem"

// reduceRing reduces in a ring; then each member sends its complete share to the root. The sum
// that is passed on is in scratch memory, which holds one sum at a time.
func reduceRing(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < n-1 {
		s.ringReduce(s.temp(2*s.ringShare()), inScratch)
		return true
	}
	done := inScratch(s, (me+1)%n)
	if me != s.Root {
		s.sendTo(s.Root, done)
		return false
	}
	for r := range n {
		if r != me {
			s.recvFrom(r, s.share(s.Recv.Mem, (r+1)%n))
		}
	}
	s.copy(s.share(s.Recv.Mem, (me+1)%n), done)
	return false
}

func inScratch(s *schedule, share int) mem.Mem {
	lo, hi := s.bounds(s.Send.Len(), share)
	k := s.ringShare()
	return s.temp(2*k).Cut(k, k+hi-lo)
}
