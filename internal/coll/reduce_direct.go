package coll

// reduceDirect reduces directly, then everyone sends its share to the root.
func reduceDirect(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < directRounds(n) {
		s.directReduce(sendShare, nil)
		return true
	}
	lo, hi := s.bounds(len(s.Send), me)
	sum := s.temp(n * (hi - lo))[me*(hi-lo) : (me+1)*(hi-lo)]
	if me != s.Root {
		s.sendTo(s.Root, sum)
		return false
	}
	for r := range n {
		if r != me {
			s.recvFrom(r, s.share(s.Recv, r))
		}
	}
	s.copy(s.share(s.Recv, me), sum)
	return false
}
