package coll

// scanDoubling exchanges the reductions of blocks of 1, 2, 4 ... ranks: log2 n steps, each with
// the whole buffer. A reduction that comes from a lower rank is also combined with the result.
// It carries out Scan and Exscan.
//
// Rounds: own part, exchange for every step.
func scanDoubling(s *schedule) bool {
	n, me, size := s.c.Size(), s.c.Rank, s.Send.Len()
	temp := s.temp(2 * size)
	in, all := temp.First(size), temp.From(size) // all: the reduction of the block of ranks so far
	if s.round == 0 {
		s.copy(all, s.Send.Mem)
		if s.kind == Scan {
			s.copy(s.Recv.Mem, s.Send.Mem)
		}
		return true
	}
	far := 1 << (s.round - 1)
	partner := me ^ far
	switch {
	case partner >= n:
	case partner > me:
		s.recvFrom(partner, in)
		s.sendTo(partner, all)
		s.reduce(all, all, in)
	default:
		s.recvFrom(partner, in)
		s.sendTo(partner, all)
		if s.kind == Exscan && me&(far-1) == 0 { // the first operand from lower ranks
			s.copy(s.Recv.Mem, in)
		} else {
			s.reduce(s.Recv.Mem, in, s.Recv.Mem)
		}
		s.reduce(all, in, all)
	}
	return 2*far < n
}
