// Command particles lets particles fly through a box that is cut into strips, one
// a rank. A particle that leaves a strip moves to the rank that has the strip it
// enters: as it is in memory, a struct.
//
//	go run ./cmd/halo run -n 4 ./examples/particles [-particles N] [-steps N]
//
// In the end no particle may be lost, and their momentum is what it was. Any number
// of ranks computes the same; the checksum shows it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	particles := flag.Int("particles", 100_000, "particles in the box")
	steps := flag.Int("steps", 100, "steps")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *particles, *steps, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, particles, steps int, out io.Writer) error {
	if particles < 0 || steps < 0 {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("particles: -particles is %d and -steps is %d, neither may be negative", particles, steps)
	}
	s := newStrip(world, particles)
	before, err := s.total()
	if err != nil {
		return err
	}
	start, moved := mpi.Wtime(), 0
	for range steps {
		s.fly()
		left, err := s.migrate()
		if err != nil {
			return err
		}
		moved += left
	}
	seconds := mpi.Wtime() - start
	after, err := s.total()
	if err != nil {
		return err
	}
	if err := conserved(before, after, particles); err != nil {
		return err // the same on all ranks
	}
	moved, err = mpi.AllreduceOne(world, moved, mpi.Sum)
	if err != nil || world.Rank() != 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d particles made %d steps, and %d moves between %d ranks, in %.2f s: momentum (%d, %d) as before, checksum %016x\n",
		particles, steps, moved, world.Size(), seconds, after.px, after.py, after.checksum)
	return err
}
