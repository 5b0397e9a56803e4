package coll

import "github.com/halo-mpi/halo/internal/mem"

// directWindow is with how many others the direct algorithms exchange at a time:
// what a member's memory holds of requests, and of what it has not asked for yet,
// is bounded by it.
const directWindow = 64

// window is the distances of those with whom a member of n exchanges in a round
// of k.
func window(round, k, n int) (lo, hi int) {
	lo = 1 + round*k
	return lo, min(lo+k, n)
}

// A direct reduction of n ranks takes one round, as long as they are not many:
// the buffer is divided into n pieces, and everyone receives the n-1 others'
// parts of its own piece, side by side. So on a node with fewer cores than ranks
// each has to be waited for once, not n-1 times as in a ring. A piece is combined
// in the order of the ranks, in one place, so that all who get it get the same bits.

// directChunk is how much a direct reduction combines of all members before it goes
// on to the next part of the piece, in bytes: it stays in the cache meanwhile.
const directChunk = 16 << 10

// directReduce starts round s.round of a direct reduction. When more is false,
// sum is going to be the own piece after this round: where into is, if that is
// not nil and does not overlap what is sent, or else in scratch memory.
func (s *schedule) directReduce(piece func(s *schedule, r int) mem.Mem, into mem.Mem) (sum mem.Mem, more bool) {
	n, me := s.c.Size(), s.c.Rank
	own := piece(s, me)
	k := own.Len()
	temp := s.temp(n * k)
	lo, hi := window(s.round, directWindow, n)
	for i := lo; i < hi; i++ {
		from, to := (me-i+n)%n, (me+i)%n
		if k > 0 {
			s.recvFrom(from, temp.Cut(from*k, (from+1)*k))
		}
		if b := piece(s, to); b.Len() > 0 {
			s.sendTo(to, b)
		}
	}
	if sum = into; into.Len() == 0 || mem.Same(s.Send.Mem, s.Recv.Mem) {
		sum = temp.Cut(me*k, (me+1)*k)
	}
	if hi < n {
		return sum, true
	}
	part := func(r int) mem.Mem {
		if r == me {
			return own
		}
		return temp.Cut(r*k, (r+1)*k)
	}
	for at, end := 0, 0; at < k; at = end {
		end = min(at+s.elements(directChunk), k)
		s.reduce(sum.Cut(at, end), part(0).Cut(at, end), part(1).Cut(at, end))
		for r := 2; r < n; r++ {
			s.reduce(sum.Cut(at, end), sum.Cut(at, end), part(r).Cut(at, end))
		}
	}
	return sum, false
}

// directRounds is the number of rounds of directReduce.
func directRounds(n int) int { return (n - 1 + directWindow - 1) / directWindow }

func sendShare(s *schedule, r int) mem.Mem { return s.share(s.Send.Mem, r) }

func sendBlock(s *schedule, r int) mem.Mem { return s.sendBlock(r) }
