package coll

import (
	"math/bits"

	"github.com/halo-mpi/halo/internal/mem"
)

// alltoallBruck takes ceil(log2 n) steps, each with half of the blocks. Block i of the scratch
// memory is a block that travels over distance i. In the step of 2^k, the blocks with bit 2^k in
// their number are packed together and sent to the rank at distance 2^k. In the end block i is
// the block from the rank at distance i.
//
// Rounds: put the blocks in order and pack; then, for each step, exchange, unpack and pack.
func alltoallBruck(s *schedule) bool {
	n, me, size := s.c.Size(), s.c.Rank, s.unit
	half := (n + 1) / 2 * size
	temp := s.temp(n*size + 2*half)
	all, out, in := temp.First(n*size), temp.Cut(n*size, n*size+half), temp.From(n*size+half)
	steps := bits.Len(uint(n - 1))
	if s.round == 0 {
		s.copy(all, s.Send.From(me*size))
		s.copy(all.From((n-me)*size), s.Send.First(me*size))
		s.carry(all, out, 1, true)
		return true
	}
	far := 1 << (s.round - 1)
	k := s.carry(all, in, far, false)
	s.recvFrom((me-far+n)%n, in.First(k))
	s.sendTo((me+far)%n, out.First(k))
	if s.round < steps {
		s.carry(all, out, 2*far, true)
		return true
	}
	for i := range n {
		s.copy(s.recvBlock((me-i+n)%n), all.Cut(i*size, (i+1)*size))
	}
	return false
}

// carry copies the blocks with the bit far in their number from all to packed,
// or the other way, and returns their length.
func (s *schedule) carry(all, packed mem.Mem, far int, pack bool) int {
	n, at, size := s.c.Size(), 0, s.unit
	for i := far; i < n; i++ {
		if i&far == 0 {
			continue
		}
		b, p := all.Cut(i*size, (i+1)*size), packed.Cut(at, at+size)
		if pack {
			s.copy(p, b)
		} else {
			s.copy(b, p)
		}
		at += size
	}
	return at
}
