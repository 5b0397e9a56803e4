package coll

// allreduceRing reduces in a ring, then passes the complete blocks round.
func allreduceRing(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < ringRounds(n) {
		s.ringReduce(s.temp(s.ringBlock()), inResult)
		return true
	}
	step := s.round - ringRounds(n)
	s.recvFrom((me-1+n)%n, s.block(s.recv, (me-step+n)%n))
	s.sendTo((me+1)%n, s.block(s.recv, (me+1-step+n)%n))
	return step+1 < n-1
}

func inResult(s *schedule, block int) []byte { return s.block(s.recv, block) }
