package coll

import "github.com/halo-mpi/halo/internal/mem"

// scanChain passes the reduction of the lower ranks from rank to rank, in segments: a rank sends
// a segment on while it receives the next one. Each rank sends each byte once, but the last rank
// gets its first segment only after n-1 messages. It carries out Scan and Exscan.
func scanChain(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	size := s.elements(chainSegment)
	segments := (s.Send.Len() + size - 1) / size
	segment := func(b mem.Mem, i int) mem.Mem { return b.Cut(i*size, min((i+1)*size, b.Len())) }
	out := s.round // the segment to send
	if me == 0 {
		s.sendTo(1, segment(s.Send.Mem, out))
		if s.kind == Scan {
			s.copy(segment(s.Recv.Mem, out), segment(s.Send.Mem, out))
		}
		return out+1 < segments
	}
	temp := s.temp(2 * size)
	in, sum := temp.First(size), temp.From(size) // sum: what a rank sends on in an Exscan
	out--
	if out >= 0 && me+1 < n {
		if b := segment(s.Recv.Mem, out); s.kind == Scan {
			s.sendTo(me+1, b)
		} else {
			s.sendTo(me+1, sum.First(b.Len()))
		}
	}
	if s.round < segments {
		own, result := segment(s.Send.Mem, s.round), segment(s.Recv.Mem, s.round)
		in = in.First(own.Len())
		s.recvFrom(me-1, in)
		if s.kind == Scan {
			s.reduce(result, in, own)
		} else {
			if me+1 < n {
				s.reduce(sum.First(own.Len()), in, own)
			}
			s.copy(result, in)
		}
	}
	if me+1 == n {
		return s.round+1 < segments
	}
	return s.round < segments
}
