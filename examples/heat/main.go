// Command heat lets the brightness of a picture spread like heat in a plate: it
// cuts the picture into blocks, one a rank, and in every step each rank swaps
// the edges of its block with its neighbours.
//
//	go run ./cmd/halo run -n 4 ./examples/heat [-steps N] [-tol X] [-halo HOW] [-o heat.png] [picture.png]
//
// The edges travel as messages, by a neighbourhood collective (-halo neighbor and
// neighbor-persistent), or are put into a window of the neighbour: rma-fence, rma-pscw and
// rma-lock are the three ways of the standard to synchronise that, notify and sync-counters
// two of Halo's.
//
// Any number of ranks computes the same bits; the checksum at the end shows it.
package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

//go:generate go run ./gen -o picture.png

func main() {
	mpi.Main(func(world *mpi.Comm) error { return run(world, os.Args[1:], os.Stdout) })
}

// run is the program on one rank. Rank 0 alone reads the arguments and the
// picture, so that a mistake in them is reported once; Main then ends all ranks.
func run(world *mpi.Comm, args []string, out io.Writer) error {
	var opt options
	var pic picture
	if world.Rank() == 0 {
		var err error
		if opt, err = parse(args, out); err != nil {
			return err
		}
		if !opt.help {
			if pic, err = load(opt.in); err != nil {
				return err
			}
		}
	}
	plan := []int{pic.w, pic.h, opt.steps, int(opt.halo)}
	tol := []float64{opt.tol}
	if err := mpi.Bcast(world, plan, 0); err != nil {
		return err
	}
	if err := mpi.Bcast(world, tol, 0); err != nil {
		return err
	}
	pic.w, pic.h = plan[0], plan[1]
	if pic.w == 0 {
		return nil // rank 0 was asked for help only
	}

	parts := cut(pic.w, pic.h, world.Size())
	plate, err := parts.plate(world)
	if err != nil || plate == nil {
		return err
	}
	defer plate.Free()

	result, err := diffuse(plate, parts, pic, way(plan[3]), plan[2], tol[0], out)
	if err != nil || world.Rank() != 0 {
		return err
	}
	if err := save(opt.out, result); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %s\n", opt.out)
	return err
}

// way is how the halo is filled.
type way int

const (
	byMessages way = iota
	byFence
	byPost
	byLock
	byNotification
	bySyncObjects
	byNeighbors
	byNeighborsAgain
)

// An exchange fills the halo of a block from its neighbours, once a step.
type exchange interface {
	exchange() error
	free() error
}

func newExchange(plate *mpi.Comm, l layout, b *block, how way) (exchange, error) {
	switch how {
	case byMessages:
		return messages{b, plate}, nil
	case byNeighbors, byNeighborsAgain:
		return newNeighborhood(plate, b, how == byNeighborsAgain), nil
	}
	return newOneSided(plate, l, b, how)
}

// interval is the number of steps between two computations of the residual: an allreduce
// after each step would cost more than the step.
const interval = 50

// diffuse runs steps steps, or fewer if no pixel changes by more than tol any
// more, and returns the new picture on rank 0.
func diffuse(plate *mpi.Comm, parts layout, pic picture, how way, steps int, tol float64, out io.Writer) (picture, error) {
	b, err := newBlock(parts, plate)
	if err != nil {
		return pic, err
	}
	if err := deal(plate, parts, pic, b); err != nil {
		return pic, err
	}
	halo, err := newExchange(plate, parts, b, how)
	if err != nil {
		return pic, err
	}

	start := mpi.Wtime()
	step, residual := 0, math.Inf(1)
	for step < steps && residual > tol {
		if err := halo.exchange(); err != nil {
			return pic, err
		}
		change := []float64{b.step()}
		step++
		if step%interval != 0 && step != steps {
			continue
		}
		// Send and receive slice are the same: the maximum replaces it.
		if err := mpi.Allreduce(plate, change, change, mpi.Max); err != nil {
			return pic, err
		}
		residual = change[0]
		if plate.Rank() == 0 {
			fmt.Fprintf(out, "step %5d  residual %.6f\n", step, residual)
		}
	}
	seconds := mpi.Wtime() - start
	if err := halo.free(); err != nil {
		return pic, err
	}

	result, err := collect(plate, parts, b)
	if err == nil && plate.Rank() == 0 {
		rate := float64(step) * float64(pic.w) * float64(pic.h) / max(seconds, mpi.Wtick())
		fmt.Fprintf(out, "%d steps of %d x %d cells on %d x %d ranks: %.2f s, %.3g cells/s, checksum %016x\n",
			step, pic.w, pic.h, parts.columns, parts.rows, seconds, rate, result.checksum())
	}
	return result, err
}
