// Command matrixfile writes a matrix that is distributed over all ranks to one file, in which it is
// row by row as if one process had written it, and reads it back transposed. No rank sends a number
// to another one: datatypes say where each number is, in the file and in memory.
//
//	go run ./cmd/halo run -n 4 ./examples/matrixfile [-rows N] [-cols N] [-block N] [-o FILE]
//
// The matrix is cut into blocks, which are dealt to a grid of ranks in turn, in both dimensions, as
// libraries for linear algebra do. Rank 0 compares the file with what a serial program would write.
// Without -o the file is a temporary one; on several hosts it must be in a directory that they share.
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
	cols := flag.Int("cols", 600, "columns of the matrix")
	block := flag.Int("block", 32, "rows and columns of a block")
	path := flag.String("o", "", "the file, which is kept; without it a temporary one")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *rows, *cols, *block, *path, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, rows, cols, block int, path string, out io.Writer) error {
	f, err := open(world, rows, cols, block, path)
	if err != nil {
		if world.Rank() > 0 {
			return nil // all ranks have this error: rank 0 reports it, and Main ends the job
		}
		return err
	}
	grid := make([]int, 2)
	if err := mpi.DimsCreate(world.Size(), grid); err != nil {
		return err
	}

	p := newPart(rows, cols, block, grid, world.Rank())
	p.fill()
	start := mpi.Wtime()
	if err := p.write(f); err != nil {
		return err
	}
	if err := settle(world, f); err != nil {
		return err
	}
	written := mpi.Wtime()
	if world.Rank() == 0 {
		if err := compare(f.Path(), rows, cols); err != nil {
			return err
		}
	}

	t := newPart(cols, rows, block, grid, world.Rank())
	reading := mpi.Wtime()
	if err := t.readTransposed(f); err != nil {
		return err
	}
	read := mpi.Wtime()
	wrong, err := mpi.AllreduceOne(world, t.wrong(), mpi.Sum)
	if err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("matrixfile: %d numbers of the transposed matrix are wrong", wrong)
	}
	if err := f.Close(); err != nil || world.Rank() > 0 {
		return err
	}
	fmt.Fprintf(out, "%d x %d numbers on %d x %d ranks: written in %.3f s, as a serial program does; read transposed in %.3f s, verified\n",
		rows, cols, grid[0], grid[1], written-start, read-reading)
	if path != "" {
		fmt.Fprintf(out, "wrote %s\n", path)
	}
	return nil
}
