package coll

import "github.com/halo-mpi/halo/internal/mem"

// reduceDirect does a direct reduction; then each member sends its share of the result to the
// root.
func reduceDirect(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < directRounds(n) {
		s.directReduce(sendShare, mem.Mem{})
		return true
	}
	lo, hi := s.bounds(s.Send.Len(), me)
	sum := s.temp(n*(hi-lo)).Cut(me*(hi-lo), (me+1)*(hi-lo))
	if me != s.Root {
		s.sendTo(s.Root, sum)
		return false
	}
	for r := range n {
		if r != me {
			s.recvFrom(r, s.share(s.Recv.Mem, r))
		}
	}
	s.copy(s.share(s.Recv.Mem, me), sum)
	return false
}
