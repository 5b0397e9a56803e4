package coll

// scanChain passes what the lower ranks add up to from rank to rank, in
// segments: while one is received, the one before is sent on. Everyone sends
// every byte once, but the last rank gets its first segment only after n-1
// messages. It serves Scan and Exscan.
func scanChain(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	size := s.elements(chainSegment)
	segments := (len(s.Send) + size - 1) / size
	segment := func(b []byte, i int) []byte { return b[i*size : min((i+1)*size, len(b))] }
	out := s.round // segment to send
	if me == 0 {
		s.sendTo(1, segment(s.Send, out))
		if s.kind == Scan {
			s.copy(segment(s.Recv, out), segment(s.Send, out))
		}
		return out+1 < segments
	}
	temp := s.temp(2 * size)
	in, sum := temp[:size], temp[size:] // sum: what an Exscan passes on
	if out--; out >= 0 && me+1 < n {
		if b := segment(s.Recv, out); s.kind == Scan {
			s.sendTo(me+1, b)
		} else {
			s.sendTo(me+1, sum[:len(b)])
		}
	}
	if s.round < segments {
		own, result := segment(s.Send, s.round), segment(s.Recv, s.round)
		in = in[:len(own)]
		s.recvFrom(me-1, in)
		if s.kind == Scan {
			s.reduce(result, in, own)
		} else {
			if me+1 < n {
				s.reduce(sum[:len(own)], in, own)
			}
			s.copy(result, in)
		}
	}
	if me+1 == n {
		return s.round+1 < segments
	}
	return s.round < segments
}
