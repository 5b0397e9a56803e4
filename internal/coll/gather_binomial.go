package coll

// gatherBinomial collects up a binomial tree: log2 n steps. What a rank sends is
// the run of contributions of its subtree, in order from the root, so that only
// a root other than 0 has to move them.
//
// Rounds: own part, receive from all children, pass on; at the root two copies.
func gatherBinomial(s *schedule) bool {
	n, v, size := s.c.Size(), s.virtual(), len(s.send)
	all := s.recv[:]
	if s.c.Rank != s.root || s.root != 0 {
		all = s.temp(subtree(v, n) * size)
	}
	switch s.round {
	case 0:
		s.copy(all[:size], s.send)
		for far := 1; far < reach(v, n) && v+far < n; far *= 2 {
			child := v + far
			s.recvFrom(s.rank(child), all[far*size:(far+subtree(child, n))*size])
		}
		return v != 0 || s.root != 0
	case 1:
		if v != 0 {
			s.sendTo(s.rank(v&(v-1)), all)
			return false
		}
		s.copy(s.recv[s.root*size:], all[:(n-s.root)*size])
		return true
	}
	s.copy(s.recv[:s.root*size], all[(n-s.root)*size:])
	return false
}
