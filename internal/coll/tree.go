package coll

import "math/bits"

// A binomial tree over n ranks, numbered from the root: the parent of v is v without its lowest
// bit, and its children are v+1, v+2, v+4 ... below that bit. The subtree of v consists of
// consecutive numbers, of which v is the first.

// reach returns an upper bound of the size of the subtree of v: the lowest bit of v, or for the
// root the power of two that is at least n.
func reach(v, n int) int {
	if v == 0 {
		return 1 << bits.Len(uint(n-1))
	}
	return v & -v
}

// subtree returns the number of ranks in the subtree of v.
func subtree(v, n int) int { return min(reach(v, n), n-v) }

// virtual returns the number of this member, counted from the root.
func (s *schedule) virtual() int {
	n := s.c.Size()
	return (s.c.Rank - s.Root + n) % n
}

// rank returns the rank of number v.
func (s *schedule) rank(v int) int { return (v + s.Root) % s.c.Size() }
