package main

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// multiply computes c += a*b, tile by tile: the product of a tile of a and one of b is a
// task, and ranks take tasks by a common counter. Several ranks may add to one tile of c at
// a time. It returns how many tasks this rank has done.
func multiply(next *counter, a, b, c *array, tile int) (int, error) {
	tiles := func(n int) int { return (n + tile - 1) / tile }
	inner, across := tiles(a.cols), tiles(c.cols)
	tasks := tiles(c.rows) * across * inner
	left, right, sum := make([]float64, tile*tile), make([]float64, tile*tile), make([]float64, tile*tile)
	for done := 0; ; done++ {
		task, err := next.take()
		if err != nil || task >= tasks {
			return done, err
		}
		i, j, k := task/inner/across*tile, task/inner%across*tile, task%inner*tile
		of := patch{i, j, min(tile, c.rows-i), min(tile, c.cols-j)}
		n := min(tile, a.cols-k)
		if err := a.get(patch{i, k, of.rows, n}, left); err != nil {
			return done, err
		}
		if err := b.get(patch{k, j, n, of.cols}, right); err != nil {
			return done, err
		}
		if err := a.flush(); err != nil {
			return done, err
		}
		if err := b.flush(); err != nil {
			return done, err
		}
		if err := c.flush(); err != nil { // sum can be used again
			return done, err
		}
		product(sum, left, right, of.rows, n, of.cols)
		if err := c.acc(of, sum, mpi.Sum); err != nil {
			return done, err
		}
	}
}

// product is sum = left*right, of rows x inner and inner x cols numbers.
func product(sum, left, right []float64, rows, inner, cols int) {
	clear(sum)
	for i := range rows {
		for k := range inner {
			x := left[i*inner+k]
			for j, y := range right[k*cols:][:cols] {
				sum[i*cols+j] += x * y
			}
		}
	}
}

// counter gives each number once, from 0 on.
type counter struct{ win mpi.Win[int] }

func newCounter(world *mpi.Comm) (*counter, error) {
	win, err := mpi.WinAllocate[int](world, 1) // at rank 0
	if err != nil {
		return nil, err
	}
	return &counter{win}, win.LockAll(mpi.ModeNoCheck)
}

func (c *counter) free() error {
	if err := c.win.UnlockAll(); err != nil {
		return err
	}
	return c.win.Free()
}

func (c *counter) take() (int, error) { return c.win.FetchOp(1, 0, 0, mpi.Sum) }

// compare gets all of an array and compares it with the serial result.
func (a *array) compare(what string, want []float64) error {
	got := make([]float64, len(want))
	if err := a.get(patch{0, 0, a.rows, a.cols}, got); err != nil {
		return err
	}
	if err := a.flush(); err != nil {
		return err
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("globalarray: %s: row %d, column %d is %v, want %v", what, i/a.cols, i%a.cols, got[i], want[i])
		}
	}
	return nil
}
