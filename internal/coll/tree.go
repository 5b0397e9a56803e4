package coll

import "math/bits"

// A binomial tree over n ranks, numbered from the root: v's parent is v without
// its lowest bit, its children are v+1, v+2, v+4 ... below that bit. The subtree
// of v is a run of ranks that begins with v.

// reach is the number by which the subtree of v is bounded: its lowest bit, or
// for the root the power of two that covers all.
func reach(v, n int) int {
	if v == 0 {
		return 1 << bits.Len(uint(n-1))
	}
	return v & -v
}

// subtree is the number of ranks in the subtree of v.
func subtree(v, n int) int { return min(reach(v, n), n-v) }

// virtual is the own number, counted from the root.
func (s *schedule) virtual() int {
	n := s.c.Size()
	return (s.c.Rank - s.Root + n) % n
}

// rank is the rank of number v.
func (s *schedule) rank(v int) int { return (v + s.Root) % s.c.Size() }
