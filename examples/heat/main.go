package main

import (
	"fmt"
	"io"
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
	var p plan
	if world.Rank() == 0 {
		var err error
		opt, err = parse(args, out)
		if err != nil {
			return err
		}
		if !opt.help {
			pic, p, err = begin(opt)
			if err != nil {
				return err
			}
		}
	}
	p, err := p.share(world)
	if err != nil {
		return err
	}
	pic.w, pic.h = p.w, p.h
	if pic.w == 0 {
		return nil // rank 0 was asked for help only
	}

	parts := cut(pic.w, pic.h, world.Size())
	plate, err := parts.plate(world)
	if err != nil || plate == nil {
		return err
	}
	defer plate.Free()

	result, err := diffuse(plate, parts, pic, p, out)
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

// interval is the number of steps between two computations of the residual, and between two
// checkpoints: an allreduce after each step would cost more than the step.
const interval = 50

// diffuse runs until step p.steps, or less far if no pixel changes by more than p.tol any
// more, and returns the new picture on rank 0.
func diffuse(plate *mpi.Comm, parts layout, pic picture, p plan, out io.Writer) (picture, error) {
	b, err := newBlock(parts, plate)
	if err != nil {
		return pic, err
	}
	if p.restart != "" {
		err = restore(plate, parts, b, p.restart)
	} else {
		err = deal(plate, parts, pic, b)
	}
	if err != nil {
		return pic, err
	}
	halo, err := newExchange(plate, parts, b, p.halo)
	if err != nil {
		return pic, err
	}

	start := mpi.Wtime()
	step, residual := p.step, p.residual
	for step < p.steps && residual > p.tol {
		if err := halo.exchange(); err != nil {
			return pic, err
		}
		change := []float64{b.step()}
		step++
		if step%interval != 0 && step != p.steps {
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
		if p.checkpoint != "" && step%interval == 0 {
			if err := checkpoint(plate, parts, b, p.checkpoint, step, residual); err != nil {
				return pic, err
			}
		}
	}
	seconds := mpi.Wtime() - start
	if err := halo.free(); err != nil {
		return pic, err
	}

	result, err := collect(plate, parts, b)
	if err == nil && plate.Rank() == 0 {
		steps := step - p.step
		rate := float64(steps) * float64(pic.w) * float64(pic.h) / max(seconds, mpi.Wtick())
		fmt.Fprintf(out, "%d steps of %d x %d cells on %d x %d ranks: %.2f s, %.3g cells/s, checksum %016x\n",
			steps, pic.w, pic.h, parts.columns, parts.rows, seconds, rate, result.checksum())
	}
	return result, err
}
