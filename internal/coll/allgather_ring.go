package coll

// allgatherRing passes the contributions round a ring in n-1 rounds. Each member sends each
// contribution but one, once, and only to its neighbour. Empty blocks of an Allgatherv are not
// sent.
func allgatherRing(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	out, got := (me-s.round+n)%n, (me-s.round-1+n)%n
	if b := s.recvBlock(got); b.Len() > 0 {
		s.recvFrom((me-1+n)%n, b)
	}
	switch b := s.recvBlock(out); {
	case b.Len() == 0:
	case s.round == 0:
		s.sendTo((me+1)%n, s.Send.Mem)
		s.copy(b, s.Send.Mem)
	default:
		s.sendTo((me+1)%n, b)
	}
	return s.round+1 < n-1
}
