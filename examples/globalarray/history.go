package main

import (
	"math/rand/v2"

	"github.com/halo-mpi/halo/mpi"
)

// history is a sequence of operations of one rank on an array: it multiplies, replaces and adds in
// overlapping patches, so that the order matters. Each rank uses rows of its own.
type history struct {
	patches []patch
	numbers [][]float64
	ops     []mpi.Op
}

// newHistory makes the history of a rank. Any rank can make it, to compute the expected result.
func newHistory(a *array, rank int, seed uint64) (h history) {
	random := rand.New(rand.NewPCG(seed, uint64(rank)))
	size := a.world.Size()
	row := rank * a.rows / size
	rows := (rank+1)*a.rows/size - row
	for range 12 {
		r, c := random.IntN(rows+1), random.IntN(a.cols)
		p := patch{row + r, c, random.IntN(rows + 1 - r), 1 + random.IntN(a.cols-c)}
		h.patches = append(h.patches, p)
		h.numbers = append(h.numbers, numbers(random, p.rows*p.cols))
		h.ops = append(h.ops, []mpi.Op{mpi.Sum, mpi.Replace, mpi.Prod}[random.IntN(3)])
	}
	return h
}

// numbers are small and whole, so that sums of products have no rounding: they are the
// same in any order.
func numbers(random *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(random.IntN(7) - 3)
	}
	return out
}

// run executes it, without synchronisation between two operations.
func (h history) run(a *array) error {
	for i, p := range h.patches {
		if err := a.acc(p, h.numbers[i], h.ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// serial executes it on a matrix of one rank.
func (h history) serial(matrix []float64, cols int) {
	for i, p := range h.patches {
		for r := range p.rows {
			at := matrix[(p.row+r)*cols+p.col:][:p.cols]
			for c, x := range h.numbers[i][r*p.cols:][:p.cols] {
				switch h.ops[i] {
				case mpi.Sum:
					at[c] += x
				case mpi.Prod:
					at[c] *= x
				default:
					at[c] = x
				}
			}
		}
	}
}
