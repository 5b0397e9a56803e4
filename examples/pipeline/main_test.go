package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestBatchesComeThrough(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, o := range []options{{0, 1, 1, 1}, {3, 1, 5, 3}, {20, 7, 100, 3}, {2, 3, 20_000, 2}, {2, 4, 0, 2}} {
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
		s := &stage{options: options{partitions: 2, numbers: 4}, data: make([]uint64, 8)}
		for k := range s.data {
			s.data[k] = first(3, k)
		}
		for i := range 2 {
			if err := s.verify(3, i); err != nil {
				t.Error(err)
			}
		}
		for k := range s.data {
			s.data[k]++
			if err := s.verify(3, k/4); err == nil || !strings.Contains(err.Error(), "want") {
				t.Errorf("number %d: %v", k, err)
			}
			s.data[k]--
		}
	})
}
