// Command mandelbrot draws the Mandelbrot set. Each row of the picture is a task of a pool: rows through
// the set take many times as long as others, and a worker gets the next row when it is done with one.
//
//	go run ./cmd/halo run -n 4 ./examples/mandelbrot [-width N] [-height N] [-iterations N] [-o FILE]
//
// Rank 0 hands out rows and collects them, in their order; the others compute. Alone, rank 0 computes, too.
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"os"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/pool"
)

type options struct {
	width, height, iterations int
	out                       string
}

func main() {
	var o options
	flag.IntVar(&o.width, "width", 600, "draw `N` pixels beside each other")
	flag.IntVar(&o.height, "height", 400, "draw `N` rows")
	flag.IntVar(&o.iterations, "iterations", 1000, "give up after `N` iterations of a point")
	flag.StringVar(&o.out, "o", "mandelbrot.png", "write the picture to `FILE`")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, o, os.Stdout) })
}

// A row is the argument of a task, and holds all that its worker has to know.
type row struct{ Y, Width, Height, Iterations int }

// rows is registered in all processes, since all run this program.
var rows = pool.Register("rows of the set", func(_ context.Context, r row) ([]byte, error) { return r.pixels(), nil })

// run is the program on one rank.
func run(world *mpi.Comm, o options, out io.Writer) error {
	if o.width < 1 || o.height < 1 || o.iterations < 1 {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("mandelbrot: -width is %d, -height is %d and -iterations is %d: want 1 at least", o.width, o.height, o.iterations)
	}
	return pool.Over(world, func(p *pool.Pool) error { // on rank 0
		start := mpi.Wtime()
		var pixels []byte
		for line, err := range pool.MapSeq(context.Background(), p, rows, all(o)) {
			if err != nil {
				return err
			}
			pixels = append(pixels, line...)
		}
		took := mpi.Wtime() - start
		if err := write(o, pixels); err != nil {
			return fmt.Errorf("mandelbrot: %w", err)
		}
		sum := fnv.New64a()
		sum.Write(pixels)
		_, err := fmt.Fprintf(out, "%d x %d pixels, checksum %016x, in %.3f s by %d workers; see %s\n",
			o.width, o.height, sum.Sum64(), took, max(1, world.Size()-1), o.out)
		return err
	}, pool.InFlight(2)) // a worker computes a row while the last one travels
}

// all yields the rows as the pool asks for them: a picture of any height takes no list of its rows.
func all(o options) iter.Seq[row] {
	return func(yield func(row) bool) {
		for y := range o.height {
			if !yield(row{y, o.width, o.height, o.iterations}) {
				return
			}
		}
	}
}
