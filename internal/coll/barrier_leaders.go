package coll

import "github.com/halo-mpi/halo/internal/mem"

// barrierLeaders collects the members of each node at its leader, has the leaders
// meet, and lets the members of the nodes go.
func barrierLeaders(s *schedule) bool {
	d := s.division()
	switch s.stage {
	case 0:
		s.among(d.local, ReduceBinomial, mem.Mem{}, mem.Mem{}, 0) // of nothing: messages without content
	case 1:
		s.among(d.leaders, BarrierDissemination, mem.Mem{}, mem.Mem{}, 0)
	case 2:
		s.among(d.local, BcastBinomial, mem.Mem{}, mem.Mem{}, 0)
	}
	return s.stage < 3
}
