package coll

import "github.com/halo-mpi/halo/internal/mem"

// gatherLeaders gathers on each node, then at the leader of the root's node, who hands
// all to the root if that is another rank. Blocks go in the order of the nodes, which
// the root puts right if it is not that of the ranks.
func gatherLeaders(s *schedule) bool {
	d, me := s.division(), s.c.Rank
	home, mine := int(d.at[s.Root]), int(d.at[me])
	first := d.leader(home)
	var all, part mem.Mem // in the order of the nodes: of all at the root and its leader, of the node at a leader
	switch {
	case me == s.Root && d.runs:
		all = s.Recv.Mem
	case me == s.Root || me == first:
		all = s.keep(s.c.Size() * s.unit)
	case d.leaders != nil:
		part = s.keep(d.sizes[mine] * s.unit)
	}
	if me == first {
		part = d.blocks(all, mine, s.unit)
	}
	switch s.stage {
	case 0:
		s.among(d.local, s.inner(Gather, d.local, s.unit), s.Send.Mem, part, 0)
	case 1:
		s.amongLeaders(GathervLinear, part, all, home)
	case 2:
		switch {
		case first == s.Root:
		case me == first:
			s.sendTo(s.Root, all)
		case me == s.Root:
			s.recvFrom(first, all)
		}
		if me == s.Root && !d.runs {
			s.arrange(all, s.Recv.Mem, false)
		}
		s.stage++
	}
	return s.stage < 3
}
