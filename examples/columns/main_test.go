package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestNumbersMoveRoundAnyMatrix(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, size := range [][2]int{{1, n}, {2, 5}, {7, 13}, {300, 50}} {
			rows, cols := size[0], size[1]
			mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
				b, err := newBlock(world, rows, cols)
				if err != nil {
					t.Fatal(err)
				}
				for step := range cols {
					if err := b.swap(); err != nil {
						t.Fatal(err)
					}
					b.move()
					if err := b.verify(step + 1); err != nil {
						t.Fatalf("%d x %d: %v", rows, cols, err)
					}
				}
			})
		}
	}
}

func TestANumberOutOfPlaceIsFound(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		b, err := newBlock(world, 4, 9)
		if err != nil {
			t.Fatal(err)
		}
		if world.Rank() == 1 {
			b.cells[1] = -1
		}
		const want = "after 0 steps 1 numbers are not where they belong"
		if err := b.verify(0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: %v, want %q", world.Rank(), err, want)
		}
	})
}

func TestEachRankNeedsAColumn(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		var out bytes.Buffer
		if err := run(world, 10, 2, &out); (err != nil) != (world.Rank() == 0) {
			t.Errorf("rank %d: %v", world.Rank(), err)
		}
		if err := run(world, 10, 3, &out); err != nil || strings.Contains(out.String(), "all are back, verified") != (world.Rank() == 0) {
			t.Errorf("rank %d: %v, %q", world.Rank(), err, &out)
		}
	})
}
