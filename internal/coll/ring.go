package coll

import "github.com/halo-mpi/halo/internal/mem"

// A ring of n ranks reduces in n-1 rounds. The buffer is divided into n shares. In round i each
// rank sends share rank-i, combined with its own part, to the next rank. In the end rank r has
// the complete share r+1. Each rank sends each share but one, once. A share is combined in the
// order of the ranks from its first one, in one place, so that all members get the same bits.

// ringReduce starts round s.round of the reduction. sum returns the memory for the sum of a
// share.
func (s *schedule) ringReduce(in mem.Mem, sum func(s *schedule, share int) mem.Mem) {
	n, me, step := s.c.Size(), s.c.Rank, s.round
	out, got := (me-step+n)%n, (me-step-1+n)%n
	own := s.share(s.Send.Mem, got)
	s.recvFrom((me-1+n)%n, in.First(own.Len()))
	if step == 0 {
		s.sendTo((me+1)%n, s.share(s.Send.Mem, out))
	} else {
		s.sendTo((me+1)%n, sum(s, out))
	}
	s.reduce(sum(s, got), in.First(own.Len()), own)
}

// ringShare returns the length of the longest share of the buffer in bytes.
func (s *schedule) ringShare() int {
	n, w := s.c.Size(), s.Width
	return (s.Send.Len()/w + n - 1) / n * w
}
