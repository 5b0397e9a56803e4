package coll

// reduceLeaders reduces on each node, then among the leaders to the leader of the root's node,
// which sends the result to the root if the root is another rank.
func reduceLeaders(s *schedule) bool {
	d, size, me := s.division(), s.Send.Len(), s.c.Rank
	node := int(d.at[s.Root])
	sum := s.Recv.Mem // at a leader, the result of its node
	if me != s.Root && d.leaders != nil && !s.slotted {
		sum = s.keep(size)
	}
	switch s.stage {
	case 0:
		s.among(d.local, s.inner(Reduce, d.local, size), s.Send.Mem, sum, 0)
	case 1:
		s.among(d.leaders, s.inner(Reduce, d.leaders, size), sum, sum, node)
	case 2:
		switch first := d.leader(node); {
		case s.slotted || first == s.Root:
		case me == first:
			s.sendTo(s.Root, sum)
		case me == s.Root:
			s.recvFrom(first, s.Recv.Mem)
		}
		s.stage++
	}
	return s.stage < 3
}
