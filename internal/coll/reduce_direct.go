package coll

// reduceDirect reduces directly, then everyone sends its share to the root.
func reduceDirect(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < directRounds(n) {
		s.directReduce(sendShare, data{})
		return true
	}
	lo, hi := s.bounds(s.send.n, me)
	sum := s.temp(n*(hi-lo)).cut(me*(hi-lo), (me+1)*(hi-lo))
	if me != s.Root {
		s.sendTo(s.Root, sum)
		return false
	}
	for r := range n {
		if r != me {
			s.recvFrom(r, s.share(s.recv, r))
		}
	}
	s.copy(s.share(s.recv, me), sum)
	return false
}
