package coll

import (
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/mem"
)

// scatterLeaders sends all blocks from the root to the leader of its node, if that is not the
// root. This leader sends each other leader the blocks of its node, and each leader scatters
// them on its node. Blocks are in the order of the nodes. If this is not the order of the ranks,
// the root first puts them in that order.
func scatterLeaders(s *schedule) bool {
	d, me := s.division(), s.c.Rank
	home, mine := int(d.at[s.Root]), int(d.at[me])
	first := d.leader(home)
	var all, part mem.Mem // as in gatherLeaders
	switch {
	case me == s.Root && d.runs:
		all = s.Send.Mem
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
		if me == s.Root && !d.runs {
			s.arrange(all, s.Send.Mem, true)
		}
		s.stage++
	case 1:
		switch {
		case first == s.Root:
		case me == s.Root:
			s.sendTo(first, all)
		case me == first:
			s.recvFrom(s.Root, all)
		}
		s.stage, s.began = 2, s.round+1
	case 2:
		s.amongLeaders(choice.ScattervLinear, all, part, home)
	case 3:
		s.among(d.local, s.inner(Scatter, d.local, s.unit), part, s.Recv.Mem, 0)
	}
	return s.stage < 4
}
