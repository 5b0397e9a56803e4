package coll

// allgatherDirect has each member send its contribution to all others at once. On a node each
// member copies what it needs directly from the sender, and no member waits for a neighbour that
// has no core. Empty blocks of an Allgatherv are not sent.
func allgatherDirect(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	lo, hi := window(s.round, directWindow, n)
	for i := lo; i < hi; i++ {
		if b := s.recvBlock((me - i + n) % n); b.Len() > 0 {
			s.recvFrom((me-i+n)%n, b)
		}
		if s.Send.Len() > 0 {
			s.sendTo((me+i)%n, s.Send.Mem)
		}
	}
	if s.round == 0 {
		s.copy(s.recvBlock(me), s.Send.Mem)
	}
	return hi < n
}
