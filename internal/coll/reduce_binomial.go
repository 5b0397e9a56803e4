package coll

// reduceBinomial combines up a binomial tree: log2 n steps, each with the whole
// buffer. The children come in the order of their distance, and the sum so far
// stands for the lower ranks, counted from the root.
func reduceBinomial(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	far := 1 << s.round // the subtree received spans this many ranks
	size := len(s.Send)
	temp := s.temp(2 * size)
	in, sum := temp[:size], temp[size:]
	if v == 0 {
		sum = s.Recv
	}
	mine := sum
	if s.round == 0 {
		mine = s.Send
	}
	if v&far != 0 {
		s.sendTo(s.rank(v-far), mine)
		return false
	}
	if v+far < n {
		s.recvFrom(s.rank(v+far), in)
		s.reduce(sum, mine, in)
	} else {
		s.copy(sum, mine)
	}
	return v != 0 || 2*far < n
}
