package coll

// chainSegment is what the chain passes on at a time, in bytes.
const chainSegment = 128 << 10

// bcastChain passes the buffer from rank to rank in segments: while one is
// received, the one before is sent on. A rank sends every byte at most once.
func bcastChain(s *schedule) bool {
	n, v := s.c.Size(), s.virtual()
	segments := (len(s.recv) + chainSegment - 1) / chainSegment
	segment := func(i int) []byte { return s.recv[i*chainSegment : min((i+1)*chainSegment, len(s.recv))] }
	out := s.round // segment to send
	if v > 0 {
		if s.round < segments {
			s.recvFrom(s.rank(v-1), segment(s.round))
		}
		out--
	}
	if v+1 == n {
		return s.round+1 < segments
	}
	if out >= 0 {
		s.sendTo(s.rank(v+1), segment(out))
	}
	return out+1 < segments
}
