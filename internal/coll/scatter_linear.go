package coll

// scatterLinear has the root send to each member.
func scatterLinear(s *schedule) bool {
	if s.c.Rank != s.Root {
		s.recvFrom(s.Root, s.Recv.Mem)
		return false
	}
	for r := range s.c.Size() {
		if r != s.Root {
			s.sendTo(r, s.sendBlock(r))
		}
	}
	s.copy(s.Recv.Mem, s.sendBlock(s.Root))
	return false
}
