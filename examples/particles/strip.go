package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/mpi"
)

// A particle moves from rank to rank. Its position is in units of 2^-32 of the width of
// the box: a particle that leaves on the right overflows, and enters on the left.
//
// Calls of package mpi take slices of any struct of numbers, and find out about the layout
// themselves. The gap that the compiler leaves after Mass is not sent.
type particle struct {
	ID     int64
	Mass   uint8
	X, Y   uint32
	VX, VY int32 // a step
}

// A strip is the part of the box that a rank has, and what is in it. Rank 0 has the
// leftmost.
type strip struct {
	world     *mpi.Comm
	particles []particle
}

// newStrip makes the particles that begin in the strip of this rank. All ranks use the
// same random numbers.
func newStrip(world *mpi.Comm, particles int) *strip {
	s := &strip{world: world}
	r := rand.New(rand.NewPCG(2026, 1))
	for id := range particles {
		p := particle{int64(id), uint8(1 + r.IntN(9)), r.Uint32(), r.Uint32(), speed(r), speed(r)}
		if s.owner(p) == world.Rank() {
			s.particles = append(s.particles, p)
		}
	}
	return s
}

// speed is at most a 256th of the box, mostly less.
func speed(r *rand.Rand) int32 { return int32(r.NormFloat64()*(1<<22)) >> 2 }

// owner is the rank in whose strip a particle is.
func (s *strip) owner(p particle) int {
	return int(uint64(p.X) * uint64(s.world.Size()) >> 32)
}

// fly moves the particles by one step.
func (s *strip) fly() {
	for i := range s.particles {
		p := &s.particles[i]
		p.X += uint32(p.VX)
		p.Y += uint32(p.VY)
	}
}

// migrate sends the particles that have left the strip to their new owners, takes in
// those that have come, and returns how many left.
func (s *strip) migrate() (left int, err error) {
	// Keep the particles that stay, and count those for each other rank.
	size := s.world.Size()
	stay, leave := s.particles[:0], make([][]particle, size)
	for _, p := range s.particles {
		if to := s.owner(p); to == s.world.Rank() {
			stay = append(stay, p)
		} else {
			leave[to] = append(leave[to], p)
		}
	}
	var send []particle
	sendCounts, recvCounts := make([]int, size), make([]int, size)
	for rank, ps := range leave {
		send, sendCounts[rank] = append(send, ps...), len(ps)
	}

	// First the numbers of particles, then the particles.
	if err := mpi.Alltoall(s.world, sendCounts, recvCounts); err != nil {
		return 0, err
	}
	come := 0
	for _, n := range recvCounts {
		come += n
	}
	recv := make([]particle, come)
	if err := mpi.Alltoallv(s.world, send, sendCounts, nil, recv, recvCounts, nil); err != nil {
		return 0, err
	}
	s.particles = append(stay, recv...)
	return len(send), nil
}

// totals are conserved quantities, and a checksum of all fields of all particles.
type totals struct {
	count    int64
	px, py   int64 // momentum
	checksum uint64
}

// total adds up the particles of all ranks. Integers give the same sum in any order.
func (s *strip) total() (totals, error) {
	sums := make([]int64, 4)
	for _, p := range s.particles {
		if s.owner(p) != s.world.Rank() {
			return totals{}, fmt.Errorf("particles: rank %d has particle %d, which is in the strip of rank %d", s.world.Rank(), p.ID, s.owner(p))
		}
		sums[0]++
		sums[1] += int64(p.Mass) * int64(p.VX)
		sums[2] += int64(p.Mass) * int64(p.VY)
		sums[3] += p.hash()
	}
	if err := mpi.Allreduce(s.world, sums, sums, mpi.Sum); err != nil {
		return totals{}, err
	}
	return totals{sums[0], sums[1], sums[2], uint64(sums[3])}, nil
}

// hash mixes all fields.
func (p particle) hash() int64 {
	h := uint64(p.ID)
	for _, v := range []uint64{uint64(p.Mass), uint64(p.X), uint64(p.Y), uint64(p.VX), uint64(p.VY)} {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return int64(h)
}

// conserved reports which quantity has changed.
func conserved(before, after totals, particles int) error {
	switch {
	case before.count != int64(particles) || after.count != before.count:
		return fmt.Errorf("particles: %d of %d are left of %d", after.count, before.count, particles)
	case after.px != before.px || after.py != before.py:
		return fmt.Errorf("particles: momentum (%d, %d) has become (%d, %d)", before.px, before.py, after.px, after.py)
	}
	return nil
}
