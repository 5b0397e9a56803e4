package coll

// A ring of n ranks reduces in n-1 steps: the buffer is divided into n blocks,
// and in step i everyone passes block rank-i on to the right, combined with its
// own part. In the end rank r has block r+1 complete. Every rank sends every
// byte but one block once. A block is combined in the order of the ranks from
// its first one, in one place, so that all who get it get the same bits.

// ringReduce starts round s.round of the reduction, with sums for the blocks in
// sum(block). Even rounds exchange, odd rounds combine.
func (s *schedule) ringReduce(in []byte, sum func(s *schedule, block int) []byte) {
	n, me, step := s.c.Size(), s.c.Rank, s.round/2
	out, got := (me-step+n)%n, (me-step-1+n)%n
	own := s.block(s.send, got)
	if s.round%2 == 1 {
		s.reduce(sum(s, got), in[:len(own)], own)
		return
	}
	s.recvFrom((me-1+n)%n, in[:len(own)])
	if step == 0 {
		s.sendTo((me+1)%n, s.block(s.send, out))
	} else {
		s.sendTo((me+1)%n, sum(s, out))
	}
}

// ringRounds is the number of rounds of ringReduce.
func ringRounds(n int) int { return 2 * (n - 1) }

// ringBlock is the length of the longest block of the buffer in bytes.
func (s *schedule) ringBlock() int {
	n, w := s.c.Size(), s.typ.Size()
	return (len(s.send)/w + n - 1) / n * w
}
