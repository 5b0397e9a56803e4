package coll

// reduceBinomial combines up a binomial tree: log2 n steps, each with the whole
// buffer. Even rounds receive from a child, odd rounds combine.
func reduceBinomial(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	step := s.round / 2
	far := 1 << step // the subtree received spans this many ranks
	size := len(s.send)
	temp := s.temp(2 * size)
	in, sum := temp[:size], temp[size:]
	if v == 0 {
		sum = s.recv
	}
	mine := sum
	if step == 0 {
		mine = s.send
	}
	switch {
	case s.round%2 == 1:
		if v+far < n {
			s.reduce(sum, mine, in)
		} else {
			s.copy(sum, mine)
		}
		return v&(2*far) != 0 || 2*far < n
	case v&far != 0:
		s.sendTo(s.rank(v-far), mine)
		return false
	case v+far < n:
		s.recvFrom(s.rank(v+far), in)
	}
	return true
}
