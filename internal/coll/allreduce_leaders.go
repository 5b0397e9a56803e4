package coll

// allreduceLeaders reduces on each node, among the leaders, who all get the same
// bits, and spreads the result on the nodes.
func allreduceLeaders(s *schedule) bool {
	d, size := s.division(), s.send.n
	switch s.stage {
	case 0:
		s.among(d.local, s.inner(Reduce, d.local, size), s.send, s.recv, 0)
	case 1:
		s.among(d.leaders, s.inner(Allreduce, d.leaders, size), s.recv, s.recv, 0)
	case 2:
		s.among(d.local, s.inner(Bcast, d.local, size), data{}, s.recv, 0)
	}
	return s.stage < 3
}
