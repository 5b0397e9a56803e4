package main

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

var stress = flag.Float64("stress", 0.2, "seconds of TestStress on each fabric")

// TestStress is what make stress runs for long.
func TestStress(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			if err := run(world, 60, 9, *stress/4, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProductIsThatOfOneRank(t *testing.T) {
	for n := 1; n <= 6; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, c := range [][2]int{{1, 1}, {3, 1}, {20, 7}, {33, 40}} {
				var out bytes.Buffer
				err := run(world, c[0], c[1], 0, &out)
				if err != nil || strings.Contains(out.String(), "; all are as on one rank\n") != (world.Rank() == 0) {
					t.Errorf("%d numbers, tiles of %d: rank %d: %v, %q", c[0], c[1], world.Rank(), err, &out)
				}
			}
		})
	}
}

// One rank puts, accumulates and gets patches at random: the oracle is a slice.
func TestPatchesAreThoseOfAMatrix(t *testing.T) {
	mpitest.Run(t, 4, func(t testing.TB, world *mpi.Comm) {
		const rows, cols = 17, 13
		a, err := newArray(world, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(7, 8))
		want := make([]float64, rows*cols)
		for step := 0; world.Rank() == 1 && step < 300; step++ {
			r, c := random.IntN(rows), random.IntN(cols)
			p := patch{r, c, random.IntN(rows - r + 1), random.IntN(cols - c + 1)}
			part := make([]float64, 0, p.rows*p.cols)
			for i := range p.rows {
				part = append(part, want[(p.row+i)*cols+p.col:][:p.cols]...)
			}
			if step%3 == 2 {
				got := make([]float64, len(part))
				if err := a.get(p, got); err != nil {
					t.Fatal(err)
				}
				if err := a.flush(); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, part) {
					t.Fatalf("%+v is\n%v, want\n%v", p, got, part)
				}
				continue
			}
			with, do, op := numbers(random, len(part)), a.put, mpi.Replace
			if step%3 == 1 {
				do = func(p patch, numbers []float64) error { return a.acc(p, numbers, mpi.Sum) }
				op = mpi.Sum
			}
			if err := do(p, with); err != nil {
				t.Fatal(err)
			}
			if err := a.flush(); err != nil {
				t.Fatal(err)
			}
			history{[]patch{p}, [][]float64{with}, []mpi.Op{op}}.serial(want, cols)
		}
		if err := a.sync(); err != nil {
			t.Fatal(err)
		}
		if err := a.free(); err != nil {
			t.Error(err)
		}
	})
}

// Every number of the array is in the block of one rank.
func TestBlocksCoverTheArray(t *testing.T) {
	for n := 1; n <= 8; n++ {
		mpitest.On(t, mpitest.Fabrics()[0], n, func(t testing.TB, world *mpi.Comm) {
			a, err := newArray(world, 7, 3)
			if err != nil {
				t.Fatal(err)
			}
			in := make([]int, 7*3)
			for rank := range n {
				b := a.block(rank)
				for r := range b.rows {
					for c := range b.cols {
						in[(b.row+r)*3+b.col+c]++
					}
				}
			}
			if slices.Min(in) != 1 || slices.Max(in) != 1 {
				t.Errorf("%d ranks: blocks that each number is in: %d", n, in)
			}
			if err := a.free(); err != nil {
				t.Error(err)
			}
		})
	}
}

// One number that is wrong is found.
func TestWrongNumberIsFound(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		a, err := dealt(world, numbers(rand.New(rand.NewPCG(1, 2)), 20), 5, 4)
		if err != nil {
			t.Fatal(err)
		}
		want := numbers(rand.New(rand.NewPCG(1, 2)), 20)
		if err := a.compare("array", want); err != nil {
			t.Error(err)
		}
		want[18]++
		if err := a.compare("array", want); err == nil || !strings.Contains(err.Error(), "array: row 4, column 2 is ") {
			t.Error(err)
		}
		if err := a.sync(); err != nil {
			t.Error(err)
		}
		if err := a.free(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadOptionsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, err := range []error{
			run(world, 0, 1, 0, &bytes.Buffer{}), run(world, 1, 0, 0, &bytes.Buffer{}), run(world, 1, 1, -1, &bytes.Buffer{}),
		} {
			if (err != nil) != (world.Rank() == 0) {
				t.Errorf("rank %d: %v", world.Rank(), err)
			}
		}
	})
}
