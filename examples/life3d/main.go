// Command life3d plays Conway's game in three dimensions, on a cube whose opposite faces touch: a
// cell lives on with 4 or 5 of its 26 neighbours, and begins to live with 5.
//
//	go run ./cmd/halo run -n 8 ./examples/life3d [-cells N] [-steps N] [-seed N]
//
// The ranks are a grid, reordered so that few neighbours are on different hosts. Each has a block of
// the cube, and copies of the cells around it. A datatype for each face describes where these cells
// are in memory, and a neighbourhood collective for each dimension exchanges them.
//
// Any number of ranks computes the same; the checksum shows it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	cells := flag.Int("cells", 48, "cells along an edge of the cube")
	steps := flag.Int("steps", 100, "steps")
	seed := flag.Uint64("seed", 1, "which cells live at the beginning")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *cells, *steps, *seed, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, cells, steps int, seed uint64, out io.Writer) error {
	dims := make([]int, 3)
	if err := mpi.DimsCreate(world.Size(), dims); err != nil {
		return err
	}
	if cells < dims[0] || steps < 0 { // dims[0] is the largest
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("life3d: -cells is %d and -steps is %d: want %d cells or more, since each rank has some, and 0 steps or more", cells, steps, dims[0])
	}
	grid, err := world.CartCreate(dims, []bool{true, true, true}, true)
	if err != nil {
		return err
	}
	defer grid.Free()
	b, err := newBlock(grid, cells, seed)
	if err != nil {
		return err
	}
	start := mpi.Wtime()
	for range steps {
		if err := b.exchange(); err != nil {
			return err
		}
		b.step()
	}
	seconds := mpi.Wtime() - start
	if err := b.free(); err != nil {
		return err
	}
	alive, sum := b.alive()
	total := []uint64{alive, sum}
	if err := mpi.Allreduce(grid, total, total, mpi.Sum); err != nil || grid.Rank() != 0 {
		return err
	}
	rate := float64(steps) * float64(cells*cells*cells) / max(seconds, mpi.Wtick())
	_, err = fmt.Fprintf(out, "%d steps of %d^3 cells on %d x %d x %d ranks: %.2f s, %.3g cells/s, %d alive, checksum %016x\n",
		steps, cells, dims[0], dims[1], dims[2], seconds, rate, total[0], total[1])
	return err
}
