package coll

import (
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/mem"
)

// barrierLeaders has the members of each node report to their leader, runs a barrier among the
// leaders, and has the leaders release the members of their nodes.
func barrierLeaders(s *schedule) bool {
	d := s.division()
	switch s.stage {
	case 0:
		s.among(d.local, choice.ReduceBinomial, mem.Mem{}, mem.Mem{}, 0) // the messages are empty
	case 1:
		s.among(d.leaders, choice.BarrierDissemination, mem.Mem{}, mem.Mem{}, 0)
	case 2:
		s.among(d.local, choice.BcastBinomial, mem.Mem{}, mem.Mem{}, 0)
	}
	return s.stage < 3
}
