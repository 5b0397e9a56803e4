package coll

// bcastBinomial sends the whole buffer down a binomial tree, in log2 n steps.
func bcastBinomial(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	if s.round == 0 && v != 0 {
		s.recvFrom(s.rank(v&(v-1)), s.Recv.Mem)
		return true
	}
	for far := reach(v, n) / 2; far > 0; far /= 2 { // the largest subtree first
		if v+far < n {
			s.sendTo(s.rank(v+far), s.Recv.Mem)
		}
	}
	return false
}
