package coll

// scanDoubling exchanges what blocks of 1, 2, 4 ... ranks add up to: log2 n
// steps, each with the whole buffer. What comes from lower ranks goes into the
// result, too. It serves Scan and Exscan.
//
// Rounds: own part, exchange for every step.
func scanDoubling(s *schedule) bool {
	n, me, size := s.c.Size(), s.c.Rank, s.send.n
	temp := s.temp(2 * size)
	in, all := temp.first(size), temp.from(size) // all: of the ranks heard of
	if s.round == 0 {
		s.copy(all, s.send)
		if s.kind == Scan {
			s.copy(s.recv, s.send)
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
		if s.kind == Exscan && me&(far-1) == 0 { // the first from below
			s.copy(s.recv, in)
		} else {
			s.reduce(s.recv, in, s.recv)
		}
		s.reduce(all, in, all)
	}
	return 2*far < n
}
