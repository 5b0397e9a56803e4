// Command columns cuts a matrix into blocks of columns, one a rank, and swaps the
// columns at the edges with the neighbours. A matrix is in memory row after row,
// so the numbers of a column are far apart: a datatype describes their places, and they
// are sent from there and received there, without an intermediate copy.
//
//	go run ./cmd/halo run -n 4 ./examples/columns [-rows N] [-cols N]
//
// In every step the even rows move one place to the right and the odd rows one to
// the left, round the matrix. After as many steps as there are columns all numbers
// must be back where they were.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	rows := flag.Int("rows", 1000, "rows of the matrix")
	cols := flag.Int("cols", 600, "columns, and steps")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *rows, *cols, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, rows, cols int, out io.Writer) error {
	if rows < 1 || cols < world.Size() {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("columns: -rows is %d and -cols is %d: %d ranks need a row, and a column each", rows, cols, world.Size())
	}
	b, err := newBlock(world, rows, cols)
	if err != nil {
		return err
	}
	start, swapping := mpi.Wtime(), 0.0
	for step := range cols {
		before := mpi.Wtime()
		if err := b.swap(); err != nil {
			return err
		}
		swapping += mpi.Wtime() - before
		b.move()
		if step+1 == cols/2 || step+1 == cols { // half way round, and back at the start
			if err := b.verify(step + 1); err != nil {
				return err
			}
		}
	}
	seconds := mpi.Wtime() - start
	if world.Rank() != 0 {
		return nil
	}
	_, err = fmt.Fprintf(out, "%d x %d numbers on %d ranks, moved %d times: all are back, verified; %.2f s, of which swapping edges took %.2f s\n",
		rows, cols, world.Size(), cols, seconds, swapping)
	return err
}
