package coll

// chainSegment is what a chain passes on at a time, in bytes.
const chainSegment = 128 << 10

// segmentCount is the number of segments of b.
func segmentCount(b data) int { return (b.n + chainSegment - 1) / chainSegment }

// segment is the i-th of them.
func segment(b data, i int) data { return b.cut(i*chainSegment, min((i+1)*chainSegment, b.n)) }

// bcastChain passes the buffer from rank to rank in segments: while one is
// received, the one before is sent on. A rank sends every byte at most once.
func bcastChain(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	segments := segmentCount(s.recv)
	out := s.round // segment to send
	if v > 0 {
		if s.round < segments {
			s.recvFrom(s.rank(v-1), segment(s.recv, s.round))
		}
		out--
	}
	if v+1 == n {
		return s.round+1 < segments
	}
	if out >= 0 {
		s.sendTo(s.rank(v+1), segment(s.recv, out))
	}
	return out+1 < segments
}
