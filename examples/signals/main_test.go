package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestTilesComeThrough(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, o := range []options{{0, 8, 1, 1}, {1, 8, 4, 1}, {40, 2000, 1, 1}, {60, 64, 3, 2}, {5, 100_001, 2, 1}} {
				var out bytes.Buffer
				err := run(world, o, &out)
				if err != nil || strings.Contains(out.String(), ", all verified\n") != (world.Rank() == 0) {
					t.Errorf("%+v: rank %d: %v, %q", o, world.Rank(), err, &out)
				}
			}
		})
	}
}

// A number that is wrong at the end of the pipeline is found, in each of its places.
func TestWrongNumberIsFound(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		p := newPipe(world, options{bytes: 80})
		tile := make([]uint64, p.numbers)
		for k := range tile {
			tile[k] = first(3, k)
		}
		if err := p.verify(3, tile); err != nil {
			t.Error(err)
		}
		for k := range tile {
			tile[k]++
			if err := p.verify(3, tile); err == nil || !strings.Contains(err.Error(), "of tile 3 is") {
				t.Errorf("number %d: %v", k, err)
			}
			tile[k]--
		}
		if err := p.verify(4, tile); err == nil {
			t.Error("tile 3 passes for tile 4")
		}
	})
}

func TestBadOptionsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, o := range []options{{-1, 8, 1, 1}, {1, 7, 1, 1}, {1, 8, 0, 1}, {1, 8, 1, 0}} {
			if err := run(world, o, &bytes.Buffer{}); (err != nil) != (world.Rank() == 0) {
				t.Errorf("%+v: rank %d: %v", o, world.Rank(), err)
			}
		}
	})
}
