package coll

// scatterBinomial sends the blocks of the subtrees down a binomial tree, in log2 n steps. A root
// other than 0 first puts the blocks in the order of the tree.
//
// Rounds: receive, or at the root put the blocks in order; send to the children.
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
