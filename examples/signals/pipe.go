package main

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// pipe is a rank's place in the pipeline.
type pipe struct {
	options
	world        *mpi.Comm
	before, next int // ranks, or ProcNull at the ends
	numbers      int // in a tile
}

func newPipe(world *mpi.Comm, o options) *pipe {
	p := &pipe{options: o, world: world, before: world.Rank() - 1, next: world.Rank() + 1, numbers: o.bytes / 8}
	if p.before < 0 {
		p.before = mpi.ProcNull
	}
	if p.next == world.Size() {
		p.next = mpi.ProcNull
	}
	return p
}

// stream is a method to pass tiles from rank to rank. Both ends have a number of slots: tile i uses
// slot i modulo their number. A rank calls receive, space, release and send for each tile. The
// first rank does not call receive and release, the last one does not call space and send.
type stream interface {
	receive(i int) ([]uint64, error) // tile i, when it is there
	release(i int) error             // it has been read
	space(i int) ([]uint64, error)   // where tile i is to be written, when that may be
	send(i int) error                // it has been written
	free() error                     // collective; all was sent and received
}

// run lets all tiles through, and returns how long it took.
func (p *pipe) run(s stream) (seconds float64, err error) {
	if err := p.world.Barrier(); err != nil {
		return 0, err
	}
	start := mpi.Wtime()
	own := make([]uint64, p.numbers)
	for i := range p.tiles {
		if err := p.tile(s, i, own); err != nil {
			return 0, err
		}
	}
	if err := p.world.Barrier(); err != nil {
		return 0, err
	}
	return mpi.Wtime() - start, nil
}

func (p *pipe) tile(s stream, i int, own []uint64) (err error) {
	from, to := own, own
	if p.before != mpi.ProcNull {
		from, err = s.receive(i)
		if err != nil {
			return err
		}
	}
	if p.next != mpi.ProcNull {
		to, err = s.space(i)
		if err != nil {
			return err
		}
	}
	switch {
	case p.before == mpi.ProcNull:
		for k := range to {
			to[k] = first(i, k)
		}
	default:
		for k, x := range from {
			to[k] = x + uint64(p.world.Rank())
		}
	}
	if p.before != mpi.ProcNull {
		if err := s.release(i); err != nil {
			return err
		}
	}
	if p.next != mpi.ProcNull {
		return s.send(i)
	}
	return p.verify(i, to)
}

// first is number k of tile i as rank 0 makes it.
func first(i, k int) uint64 { return uint64(i)<<32 + uint64(k)*2_654_435_761 }

// verify checks a tile that has come to the end.
func (p *pipe) verify(i int, tile []uint64) error {
	added := uint64(p.world.Size() * (p.world.Size() - 1) / 2)
	for k, x := range tile {
		if want := first(i, k) + added; x != want {
			return fmt.Errorf("number %d of tile %d is %#x, want %#x", k, i, x, want)
		}
	}
	return nil
}

// slots is memory for the tiles of a rank that are on their way out.
func (p *pipe) slots() [][]uint64 {
	all := make([][]uint64, p.depth)
	for i := range all {
		all[i] = make([]uint64, p.numbers)
	}
	return all
}
