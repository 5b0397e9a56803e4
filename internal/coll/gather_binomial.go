package coll

// gatherBinomial collects contributions up a binomial tree, in log2 n steps. A rank sends the
// contributions of its subtree, in the order of the ranks from the root, so that only a root
// other than 0 has to rearrange them.
//
// Rounds: receive from all children; send to the parent.
func gatherBinomial(s *schedule) bool {
	n, v, size := s.c.Size(), s.virtual(), s.unit
	all := s.Recv.Mem
	if v != 0 || s.Root != 0 {
		all = s.temp(subtree(v, n) * size)
	}
	if s.round == 1 {
		s.sendTo(s.rank(v&(v-1)), all)
		return false
	}
	for far := 1; far < reach(v, n) && v+far < n; far *= 2 {
		child := v + far
		s.recvFrom(s.rank(child), all.Cut(far*size, (far+subtree(child, n))*size))
	}
	s.copy(all.First(size), s.Send.Mem)
	if v != 0 {
		return true
	}
	if s.Root != 0 {
		s.copy(s.Recv.From(s.Root*size), all.First((n-s.Root)*size))
		s.copy(s.Recv.First(s.Root*size), all.From((n-s.Root)*size))
	}
	return false
}
