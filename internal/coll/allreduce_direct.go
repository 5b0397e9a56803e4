package coll

import "github.com/halo-mpi/halo/internal/mem"

// allreduceDirect does a direct reduction; then each member sends its share of the result to all
// others at once.
func allreduceDirect(s *schedule) bool {
	n, me := s.c.Size(), s.c.Rank
	first := directRounds(n)
	own := s.share(s.Recv.Mem, me)
	if s.round < first {
		s.directReduce(sendShare, own)
		return true
	}
	sum := own // the reduced share of this member, where directReduce has put it
	if mem.Same(s.Send.Mem, s.Recv.Mem) {
		sum = s.temp(n*own.Len()).Cut(me*own.Len(), (me+1)*own.Len())
	}
	lo, hi := window(s.round-first, directWindow, n)
	for i := lo; i < hi; i++ {
		from, to := (me-i+n)%n, (me+i)%n
		s.recvFrom(from, s.share(s.Recv.Mem, from))
		s.sendTo(to, sum)
	}
	if hi == n {
		s.copy(own, sum)
	}
	return hi < n
}
