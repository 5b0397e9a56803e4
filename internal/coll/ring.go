package coll

import "github.com/halo-mpi/halo/internal/mem"

// A ring of n ranks reduces in n-1 rounds: the buffer is divided into n shares,
// and in round i everyone passes share rank-i on to the right, combined with its
// own part. In the end rank r has share r+1 complete. Every rank sends every
// byte but one share once. A share is combined in the order of the ranks from
// its first one, in one place, so that all who get it get the same bits.

// ringReduce starts round s.round of the reduction, with sums for the shares in
// sum(share).
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

// ringShare is the length of the longest share of the buffer in bytes.
func (s *schedule) ringShare() int {
	n, w := s.c.Size(), s.Width
	return (s.Send.Len()/w + n - 1) / n * w
}
