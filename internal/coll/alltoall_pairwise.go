package coll

// alltoallPairwise exchanges with one member after the other, in n-1 rounds: in round i with the
// neighbours at distance i+1. At any time each member sends to one other and receives from one.
func alltoallPairwise(s *schedule) bool { return s.exchange(1) }
