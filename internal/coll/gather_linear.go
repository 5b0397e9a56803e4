package coll

// gatherLinear has each member send to the root, which receives each block directly into its
// buffer.
func gatherLinear(s *schedule) bool {
	if s.c.Rank != s.Root {
		s.sendTo(s.Root, s.Send.Mem)
		return false
	}
	for r := range s.c.Size() {
		if r != s.Root {
			s.recvFrom(r, s.recvBlock(r))
		}
	}
	s.copy(s.recvBlock(s.Root), s.Send.Mem)
	return false
}
