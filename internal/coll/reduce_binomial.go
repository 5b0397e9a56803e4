package coll

import "math/bits"

// reduceBinomial combines up a binomial tree: log2 n steps, each with the whole buffer. The
// operands of children arrive in the order of their distance; the sum so far is the operand of
// the lower ranks, counted from the top of the tree. The top is the root. If the order of the
// ranks must be kept the top is rank 0, which sends the result to the root in the end.
func reduceBinomial(s *schedule) bool {
	n, me, top := s.c.Size(), s.c.Rank, s.Root
	if s.Ordered() {
		top = 0
	}
	v := (me - top + n) % n
	rank := func(v int) int { return (v + top) % n }
	far := 1 << s.round // the number of ranks in the subtree that is received
	size := s.Send.Len()
	temp := s.temp(2 * size)
	in, sum := temp.First(size), temp.From(size)
	if me == s.Root && v == 0 {
		sum = s.Recv.Mem
	}
	mine := sum
	if s.round == 0 {
		mine = s.Send.Mem
	}
	switch {
	case v == 0 && far >= n: // rank 0 as the top, if it is not the root
		s.sendTo(s.Root, sum)
		return false
	case v != 0 && s.round > bits.TrailingZeros(uint(v)): // only the root, if it is not the top
		s.recvFrom(top, s.Recv.Mem)
		return false
	case v&far != 0:
		s.sendTo(rank(v-far), mine)
		return me == s.Root
	case v+far < n:
		s.recvFrom(rank(v+far), in)
		s.reduce(sum, mine, in)
	default:
		s.copy(sum, mine)
	}
	return v != 0 || 2*far < n || me != s.Root
}
