package coll

// alltoallPairwise exchanges with one after the other, in n-1 rounds: in round i
// with the neighbours at distance i+1. Everyone sends to one and receives from
// one at any time.
func alltoallPairwise(s *schedule) bool { return s.exchange(1) }
