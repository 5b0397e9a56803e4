package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	n := flag.Int("n", 160, "multiply matrices of `N` x N numbers")
	tile := flag.Int("tile", 24, "in tiles of `N` x N")
	seconds := flag.Float64("seconds", 0, "go on for `N` seconds")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *n, *tile, *seconds, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, n, tile int, seconds float64, out io.Writer) error {
	if n < 1 || tile < 1 || !(seconds >= 0) {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("globalarray: -n is %d, -tile is %d and -seconds is %v: want at least 1, and 0", n, tile, seconds)
	}
	start := mpi.Wtime()
	done, flops, took := 0, 0.0, 0.0
	for seed := uint64(0); ; seed++ {
		m := matrices{rows: n, inner: n, cols: n, tile: tile, seed: seed}
		if seed > 0 {
			random := rand.New(rand.NewPCG(seed, 3))
			m = matrices{1 + random.IntN(n), 1 + random.IntN(n), 1 + random.IntN(n), 1 + random.IntN(2*tile), seed}
		}
		tasks, t, err := m.multiply(world)
		if err != nil {
			return err
		}
		if err := m.history(world); err != nil {
			return err
		}
		done, took, flops = done+tasks, took+t, flops+2*float64(m.rows)*float64(m.inner)*float64(m.cols)
		more := []bool{mpi.Wtime()-start < seconds}
		if err := mpi.Bcast(world, more, 0); err != nil {
			return err
		}
		if !more[0] {
			most, err := mpi.AllreduceOne(world, done, mpi.Max)
			if err != nil || world.Rank() != 0 {
				return err
			}
			_, err = fmt.Fprintf(out, "%d ranks: %d products of matrices, %.2f Gflop/s, at most %d tiles by one rank; all are as on one rank\n",
				world.Size(), seed+1, flops/max(took, mpi.Wtick())/1e9, most)
			return err
		}
	}
}

// matrices is a product to compute: a, of rows x inner, times b, of inner x cols.
type matrices struct {
	rows, inner, cols, tile int
	seed                    uint64
}

// multiply computes and compares the product, and returns how many tasks this rank has
// done, and how long it took.
func (m matrices) multiply(world *mpi.Comm) (tasks int, seconds float64, err error) {
	random := rand.New(rand.NewPCG(m.seed, 4))
	left, right := numbers(random, m.rows*m.inner), numbers(random, m.inner*m.cols)
	a, err := dealt(world, left, m.rows, m.inner)
	if err != nil {
		return 0, 0, err
	}
	b, err := dealt(world, right, m.inner, m.cols)
	if err != nil {
		return 0, 0, err
	}
	c, err := newArray(world, m.rows, m.cols)
	if err != nil {
		return 0, 0, err
	}
	next, err := newCounter(world)
	if err != nil {
		return 0, 0, err
	}
	start := mpi.Wtime()
	tasks, err = multiply(next, a, b, c, m.tile)
	if err != nil {
		return tasks, 0, err
	}
	if err := c.sync(); err != nil {
		return tasks, 0, err
	}
	seconds = mpi.Wtime() - start
	want := make([]float64, m.rows*m.cols)
	product(want, left, right, m.rows, m.inner, m.cols)
	if err := c.compare("product", want); err != nil {
		return tasks, 0, err
	}
	for _, free := range []func() error{a.free, b.free, c.free, next.free} {
		if err := free(); err != nil {
			return tasks, 0, err
		}
	}
	return tasks, seconds, nil
}

// dealt is an array of numbers that all ranks have: each puts some rows of it.
func dealt(world *mpi.Comm, numbers []float64, rows, cols int) (*array, error) {
	a, err := newArray(world, rows, cols)
	if err != nil {
		return nil, err
	}
	// The last rank begins with the first rows, so that they go somewhere else.
	who := world.Size() - 1 - world.Rank()
	row, end := who*rows/world.Size(), (who+1)*rows/world.Size()
	if err := a.put(patch{row, 0, end - row, cols}, numbers[row*cols:]); err != nil {
		return nil, err
	}
	return a, a.sync()
}

// history lets all ranks execute their histories on a matrix at the same time.
func (m matrices) history(world *mpi.Comm) error {
	a, err := newArray(world, m.rows, m.cols)
	if err != nil {
		return err
	}
	if err := newHistory(a, world.Rank(), m.seed).run(a); err != nil {
		return err
	}
	if err := a.sync(); err != nil {
		return err
	}
	want := make([]float64, m.rows*m.cols)
	for rank := range world.Size() {
		newHistory(a, rank, m.seed).serial(want, m.cols)
	}
	if err := a.compare("matrix that was accumulated on", want); err != nil {
		return err
	}
	return a.free()
}
