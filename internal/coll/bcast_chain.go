package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// chainSegment is what a chain passes on at a time, in bytes.
const chainSegment = 128 << 10

// segmentCount is the number of segments of b.
func segmentCount(b mem.Mem) int { return (b.Len() + chainSegment - 1) / chainSegment }

// segment is the i-th of them.
func segment(b mem.Mem, i int) mem.Mem {
	return b.Cut(i*chainSegment, min((i+1)*chainSegment, b.Len()))
}

// bcastChain passes the buffer from rank to rank in segments: while one is
// received, the one before is sent on. A rank sends every byte at most once.
//
// Members may disagree on the length, and so on the number of segments. Each segment but the last
// says that there are more (p2p.More), and a member receives until the last one is here, whatever
// it has room for: so the rank before it does not wait for ever, and neither does it. A member
// that has found an error tells the next one with an empty segment, the last that it sends.
func bcastChain(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	s.chained = true
	segments := segmentCount(s.Recv.Mem)
	out := s.round // segment to send
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

// moreIf is what a segment says that is not the last one.
func moreIf(more bool) dtype.Code {
	if more {
		return p2p.More
	}
	return dtype.Mixed
}

// segmentIn looks whether the segment that was received is the last one.
func (s *schedule) segmentIn(r *p2p.Request) {
	from := r.Status.Source
	if s.over = !r.More(); s.over != r.Last() {
		if s.over {
			s.note(wrong(class.Count, "rank %d gives less than the %d bytes that are received", from, s.Recv.Len()))
		} else {
			s.note(wrong(class.Truncate, "rank %d gives more than the %d bytes that are received", from, s.Recv.Len()))
		}
	}
}
