package coll

import "github.com/halo-mpi/halo/internal/mem"

// allgatherLeaders gathers on each node, exchanges the contributions of the nodes among the
// leaders, and broadcasts all contributions on each node. The contributions are in the order of
// the nodes; if this is not the order of the ranks, they are put in that order in the end.
func allgatherLeaders(s *schedule) bool {
	d, size := s.division(), s.c.Size()*s.unit
	all := s.Recv.Mem
	if !d.runs {
		all = s.keep(size)
	}
	mine := d.blocks(all, int(d.at[s.c.Rank]), s.unit)
	switch s.stage {
	case 0:
		s.among(d.local, s.inner(Gather, d.local, s.unit), s.Send.Mem, mine, 0)
	case 1:
		s.amongLeaders(s.inner(Allgatherv, d.leaders, size/d.nodes()), mine, all, 0)
	case 2:
		s.among(d.local, s.inner(Bcast, d.local, size), mem.Mem{}, all, 0)
	case 3:
		if !d.runs {
			s.arrange(all, s.Recv.Mem, false)
		}
		s.stage++
	}
	return s.stage < 4
}
