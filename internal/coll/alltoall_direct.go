package coll

// alltoallDirect exchanges with all others at once, beginning with the next
// neighbours, so that not everybody begins with the same one.
func alltoallDirect(s *schedule) bool { return s.exchange(directWindow) }

// exchange sends blocks to k others, and receives theirs, in each round. Empty
// blocks of an Alltoallv are not sent. In place, what is sent is copied before,
// which takes a round.
func (s *schedule) exchange(k int) bool {
	n, me, send, round := s.c.Size(), s.c.Rank, s.send, s.round
	if same(s.send, s.recv) {
		send = s.temp(s.send.n)
		if round == 0 {
			s.copy(send, s.send)
			return true
		}
		round--
	} else if round == 0 {
		s.copy(s.recvBlock(me), s.sendBlock(me))
	}
	lo, hi := window(round, k, n)
	for i := lo; i < hi; i++ {
		from, to := (me-i+n)%n, (me+i)%n
		if b := s.recvBlock(from); b.n > 0 {
			s.recvFrom(from, b)
		}
		if b := block(send, to, s.unit, s.Width, s.SendCounts, s.SendDispls); b.n > 0 {
			s.sendTo(to, b)
		}
	}
	if hi == n && round != s.round { // in place
		s.copy(s.recvBlock(me), block(send, me, s.unit, s.Width, s.SendCounts, s.SendDispls))
	}
	return hi < n
}
