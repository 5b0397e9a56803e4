package coll

import "github.com/halo-mpi/halo/internal/mem"

// allreduceLeaders reduces on each node, then among the leaders, which all get the same bits,
// and broadcasts the result on each node.
func allreduceLeaders(s *schedule) bool {
	d, size := s.division(), s.Send.Len()
	switch s.stage {
	case 0:
		s.among(d.local, s.inner(Reduce, d.local, size), s.Send.Mem, s.Recv.Mem, 0)
	case 1:
		s.among(d.leaders, s.inner(Allreduce, d.leaders, size), s.Recv.Mem, s.Recv.Mem, 0)
	case 2:
		s.among(d.local, s.inner(Bcast, d.local, size), mem.Mem{}, s.Recv.Mem, 0)
	}
	return s.stage < 3
}
