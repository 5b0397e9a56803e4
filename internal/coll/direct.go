package coll

import "github.com/halo-mpi/halo/internal/mem"

// directWindow is the number of members with which the direct algorithms exchange at a time. It
// bounds the requests of a member and the unexpected messages in its memory.
const directWindow = 64

// window returns the distances of the members with which a member of n exchanges in a round of
// k.
func window(round, k, n int) (lo, hi int) {
	lo = 1 + round*k
	return lo, min(lo+k, n)
}

// A direct reduction of n ranks takes one round, if n-1 is at most directWindow. The buffer is
// divided into n pieces, and each member receives the other members' n-1 parts of its own piece
// at the same time. So on a node with fewer cores than ranks each member waits once for each
// other one, not n-1 times as in a ring. A piece is combined in the order of the ranks, in one
// place, so that all members get the same bits.

// directChunk is the number of bytes of a piece that a direct reduction combines, over all
// members, before it goes on to the next ones: they stay in the cache meanwhile.
const directChunk = 16 << 10

// directReduce starts round s.round of a direct reduction. When more is false, sum will be the
// reduced own piece after this round. It is into if into is not empty and send is not in place;
// else it is in scratch memory.
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
	sum = into
	if into.Len() == 0 || mem.Same(s.Send.Mem, s.Recv.Mem) {
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

// directRounds returns the number of rounds of directReduce.
func directRounds(n int) int { return (n - 1 + directWindow - 1) / directWindow }

func sendShare(s *schedule, r int) mem.Mem { return s.share(s.Send.Mem, r) }

func sendBlock(s *schedule, r int) mem.Mem { return s.sendBlock(r) }
