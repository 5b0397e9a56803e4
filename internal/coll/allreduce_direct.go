package coll

// allreduceDirect reduces directly, then everyone sends its share to all others
// at once.
func allreduceDirect(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	first := directRounds(n)
	own := s.share(s.recv, me)
	if s.round < first {
		s.directReduce(sendShare, own)
		return true
	}
	sum := own
	if same(s.send, s.recv) {
		sum = s.temp(n*own.n).cut(me*own.n, (me+1)*own.n)
	}
	lo, hi := window(s.round-first, directWindow, n)
	for i := lo; i < hi; i++ {
		from, to := (me-i+n)%n, (me+i)%n
		s.recvFrom(from, s.share(s.recv, from))
		s.sendTo(to, sum)
	}
	if hi == n {
		s.copy(own, sum)
	}
	return hi < n
}
