package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// chainSegment is the number of bytes that a chain passes on at a time.
const chainSegment = 128 << 10

// segmentCount is the number of segments of b.
func segmentCount(b mem.Mem) int { return (b.Len() + chainSegment - 1) / chainSegment }

// segment is the i-th segment of b.
func segment(b mem.Mem, i int) mem.Mem {
	return b.Cut(i*chainSegment, min((i+1)*chainSegment, b.Len()))
}

// bcastChain passes the buffer from rank to rank in segments: a rank sends a segment on while it
// receives the next one. A rank sends each byte at most once.
//
// Members may disagree on the length, and so on the number of segments. Each segment but the
// last says that there are more (p2p.More). A member receives until it has the last segment,
// even if its buffer has no room, so that neither the rank before it nor the member itself waits
// forever. A member that has found an error sends the next one an empty segment, the last that
// it sends.
func bcastChain(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	s.chained = true
	segments := segmentCount(s.Recv.Mem)
	out := s.round // segment to send
	if v > 0 && s.lacks(s.c.Members[s.rank(v-1)]) {
		s.over = true
		if s.round == 0 {
			return true // the next round sends the next rank its only segment
		}
	}
	receives := v > 0 && !s.over
	if v > 0 {
		out--
	}
	if receives {
		in := s.Recv.First(0)
		if s.round < segments {
			in = segment(s.Recv.Mem, s.round)
		}
		c, from := s.address(s.rank(v - 1))
		s.recvOne(c, from, in, s.codeFor(1, s.rank(v-1)), moreIf(s.round+1 < segments || s.round >= segments))
	}
	if v+1 < n && out >= 0 && !s.closed {
		s.closed = s.err != nil
		c, to := s.address(s.rank(v + 1))
		s.sendOne(c, to, segment(s.Recv.Mem, min(out, segments-1)), s.codeFor(0, s.rank(v+1)), moreIf(out+1 < segments))
	}
	if v > 0 {
		return receives
	}
	return out+1 < segments
}

// moreIf returns p2p.More for a segment that another segment follows.
func moreIf(more bool) dtype.Code {
	if more {
		return p2p.More
	}
	return dtype.Mixed
}

// segmentIn compares whether the segment received is the last one with what the member expects.
func (s *schedule) segmentIn(r *p2p.Request) {
	from := r.Status.Source
	s.over = !r.More()
	if s.over != r.Last() {
		if s.over {
			s.note(class.Errorf(class.Count, "rank %d gives less than the %d bytes that are received", from, s.Recv.Len()))
		} else {
			s.note(class.Errorf(class.Truncate, "rank %d gives more than the %d bytes that are received", from, s.Recv.Len()))
		}
	}
}
