package coll

// scatterLinear has the root send to everyone.
func scatterLinear(s *schedule) bool {
	if s.c.Rank != s.Root {
		s.recvFrom(s.Root, s.recv)
		return false
	}
	for r := range s.c.Size() {
		if r != s.Root {
			s.sendTo(r, s.sendBlock(r))
		}
	}
	s.copy(s.recv, s.sendBlock(s.Root))
	return false
}
