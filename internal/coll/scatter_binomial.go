package coll

// scatterBinomial sends down a binomial tree what the subtrees are to get: log2 n
// steps. A root other than 0 puts the blocks in the order of the tree before.
//
// Rounds: receive, or put in order; send on.
func scatterBinomial(s *schedule) bool {
	n, v, size := s.c.Size(), s.virtual(), s.unit
	all := s.Send.Mem
	if v != 0 || s.Root != 0 {
		all = s.temp(subtree(v, n) * size)
	}
	if s.round == 0 {
		switch {
		case v != 0:
			s.recvFrom(s.rank(v&(v-1)), all)
		case s.Root != 0:
			s.copy(all.First((n-s.Root)*size), s.Send.From(s.Root*size))
			s.copy(all.From((n-s.Root)*size), s.Send.First(s.Root*size))
		}
		return true
	}
	for far := reach(v, n) / 2; far > 0; far /= 2 { // the largest subtree first
		if child := v + far; child < n {
			s.sendTo(s.rank(child), all.Cut(far*size, (far+subtree(child, n))*size))
		}
	}
	s.copy(s.Recv.Mem, all.First(size))
	return false
}
