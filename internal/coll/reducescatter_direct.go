package coll

// reduceScatterDirect does a direct reduction of the blocks: each member receives all parts of
// its block at once.
func reduceScatterDirect(s *schedule) bool {
	sum, more := s.directReduce(sendBlock, s.Recv.Mem)
	if !more {
		s.copy(s.Recv.Mem, sum)
	}
	return more
}
