package coll

// scanChain passes what the lower ranks add up to from rank to rank, in
// segments: while one is received, the one before is sent on. Everyone sends
// every byte once, but the last rank gets its first segment only after n-1
// messages. It serves Scan and Exscan.
func scanChain(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	size := s.elements(chainSegment)
	segments := (s.send.n + size - 1) / size
	segment := func(b data, i int) data { return b.cut(i*size, min((i+1)*size, b.n)) }
	out := s.round // segment to send
	if me == 0 {
		s.sendTo(1, segment(s.send, out))
		if s.kind == Scan {
			s.copy(segment(s.recv, out), segment(s.send, out))
		}
		return out+1 < segments
	}
	temp := s.temp(2 * size)
	in, sum := temp.first(size), temp.from(size) // sum: what an Exscan passes on
	if out--; out >= 0 && me+1 < n {
		if b := segment(s.recv, out); s.kind == Scan {
			s.sendTo(me+1, b)
		} else {
			s.sendTo(me+1, sum.first(b.n))
		}
	}
	if s.round < segments {
		own, result := segment(s.send, s.round), segment(s.recv, s.round)
		in = in.first(own.n)
		s.recvFrom(me-1, in)
		if s.kind == Scan {
			s.reduce(result, in, own)
		} else {
			if me+1 < n {
				s.reduce(sum.first(own.n), in, own)
			}
			s.copy(result, in)
		}
	}
	if me+1 == n {
		return s.round+1 < segments
	}
	return s.round < segments
}
