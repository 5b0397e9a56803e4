package coll

// reduceScatter reduces in a ring, then everyone sends its complete block to the
// root. Sums that are passed on stand in scratch memory: only one at a time.
func reduceScatter(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	if s.round < ringRounds(n) {
		s.ringReduce(s.temp(2*s.ringBlock()), inScratch)
		return true
	}
	done := inScratch(s, (me+1)%n)
	if me != s.root {
		s.sendTo(s.root, done)
		return false
	}
	for r := range n {
		if r != me {
			s.recvFrom(r, s.block(s.recv, (r+1)%n))
		}
	}
	s.copy(s.block(s.recv, (me+1)%n), done)
	return false
}

func inScratch(s *schedule, block int) []byte {
	lo, hi := s.bounds(len(s.send), block)
	k := s.ringBlock()
	return s.temp(2 * k)[k : k+hi-lo]
}
