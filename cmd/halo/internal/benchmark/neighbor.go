package benchmark

import (
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// neighboring measures the exchange with all neighbours of a stencil for one size of blocks: by a
// neighbourhood collective, blocking and persistent, and by messages. The loops of a stencil are
// measured in turn.
func neighboring(world *mpi.Comm, p *Plan, size int, report *Report) error {
	for _, points := range []func(world *mpi.Comm) (*stencil, error){fivePoint, twentySevenPoint} {
		s, err := points(world)
		if err != nil {
			return err
		}
		n := len(s.to)
		s.size, s.send, s.recv = size, written[byte](n*size), written[byte](n*size)
		s.requests = slices.Grow(s.requests, 2*n)[:2*n]
		s.prepared = mpi.NeighborAlltoallInit(s.comm, s.send, s.recv)
		us, err := p.measureInTurn(world, s.collective, s.persistent, s.messages)
		if err != nil {
			return err
		}
		for i, how := range []string{"", " persistent", " messages"} {
			r := Result{Bench: p.Name, Fabric: p.Fabric, Ranks: world.Size(), Size: size, Layout: s.name + how, US: us[i]}
			if err := report.Add(r); err != nil {
				return err
			}
		}
		if err := s.prepared.Free(); err != nil {
			return err
		}
		if err := s.comm.Free(); err != nil {
			return err
		}
	}
	return nil
}

// stencil is the neighbours of a process in a periodic grid. A message to neighbour i has the tag i,
// one from neighbour i the tag tags[i].
type stencil struct {
	name     string
	comm     *mpi.Comm
	to, from []int
	tags     []int

	size       int // bytes of a block
	send, recv []byte
	requests   []mpi.Request
	prepared   mpi.Request
}

// fivePoint has the neighbours of a two-dimensional grid, and a Cartesian topology.
func fivePoint(world *mpi.Comm) (*stencil, error) {
	dims := make([]int, 2)
	if err := mpi.DimsCreate(world.Size(), dims); err != nil {
		return nil, err
	}
	c, err := world.CartCreate(dims, []bool{true, true}, false)
	if err != nil {
		return nil, err
	}
	s := &stencil{name: "5-point", comm: c, tags: []int{1, 0, 3, 2}}
	for dim := range dims {
		before, after, err := c.Cart().Shift(dim, 1)
		if err != nil {
			return nil, err
		}
		s.to = append(s.to, before, after)
	}
	s.from = s.to
	return s, nil
}

// twentySevenPoint has those of a three-dimensional grid, the ones at edges and corners included, and a
// distributed graph.
func twentySevenPoint(world *mpi.Comm) (*stencil, error) {
	dims := make([]int, 3)
	if err := mpi.DimsCreate(world.Size(), dims); err != nil {
		return nil, err
	}
	me := world.Rank()
	at := [3]int{me / dims[1] / dims[2], me / dims[2] % dims[1], me % dims[2]}
	s := &stencil{name: "27-point"}
	for i := range 27 {
		if i == 13 {
			continue // the process itself
		}
		var there, here int
		for d, step := range [3]int{i/9 - 1, i/3%3 - 1, i%3 - 1} {
			there = there*dims[d] + (at[d]+step+dims[d])%dims[d]
			here = here*dims[d] + (at[d]-step+dims[d])%dims[d]
		}
		s.to, s.from, s.tags = append(s.to, there), append(s.from, here), append(s.tags, len(s.tags))
	}
	var err error
	s.comm, err = world.DistGraphCreateAdjacent(s.from, nil, s.to, nil, false)
	return s, err
}

func (s *stencil) collective(n int) error {
	for range n {
		if err := mpi.NeighborAlltoall(s.comm, s.send, s.recv); err != nil {
			return err
		}
	}
	return nil
}

func (s *stencil) persistent(n int) error {
	for range n {
		if err := s.prepared.Start(); err != nil {
			return err
		}
		if _, err := s.prepared.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (s *stencil) messages(n int) error {
	for range n {
		for i, r := range s.from {
			s.requests[i] = mpi.Irecv(s.comm, s.recv[i*s.size:(i+1)*s.size], r, s.tags[i])
		}
		for i, r := range s.to {
			s.requests[len(s.from)+i] = mpi.Isend(s.comm, s.send[i*s.size:(i+1)*s.size], r, i)
		}
		if err := mpi.Waitall(s.requests, nil); err != nil {
			return err
		}
	}
	return nil
}
