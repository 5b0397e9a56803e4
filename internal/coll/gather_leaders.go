package coll

import (
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/mem"
)

// gatherLeaders gathers on each node, then from the leaders at the leader of the root's node,
// which sends all blocks to the root if the root is another rank. Blocks are in the order of the
// nodes. If this is not the order of the ranks, the root puts them in that order.
func gatherLeaders(s *schedule) bool {
	d, me := s.division(), s.c.Rank
	home, mine := int(d.at[s.Root]), int(d.at[me])
	first := d.leader(home)
	var all, part mem.Mem // all: blocks in the order of the nodes; part: those of the own node
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
		s.amongLeaders(choice.GathervLinear, part, all, home)
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
