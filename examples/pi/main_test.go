package main

import (
	"math"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestPiHasTheSameBitsOnAnyNumberOfRanks(t *testing.T) {
	for _, intervals := range []int{1, 1000, 12345} {
		serial := 0.0
		for s := range strips {
			serial += strip(s, intervals)
		}
		for n := 1; n <= 4; n++ {
			mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
				pi, err := integrate(world, intervals)
				if err != nil {
					t.Fatal(err)
				}
				if world.Rank() == 0 && pi != serial {
					t.Errorf("%d intervals on %d ranks: %v, serial %v", intervals, n, pi, serial)
				}
			})
		}
	}
}

// The midpoint rule is off by at most max|f"|/24 times the squared width, and f"
// is at most 8 here.
func TestPiIsAsGoodAsTheMidpointRule(t *testing.T) {
	for _, intervals := range []int{1, 10, 1000, 100000} {
		err := mpi.Run(2, func(world *mpi.Comm) error {
			pi, err := integrate(world, intervals)
			bound := 8.0/24/(float64(intervals)*float64(intervals)) + 1e-14
			if off := math.Abs(pi - math.Pi); world.Rank() == 0 && off > bound {
				t.Errorf("%d intervals: off by %g, bound %g", intervals, off, bound)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestNoIntervalsIsAnError(t *testing.T) {
	if err := mpi.Run(1, func(world *mpi.Comm) error { _, err := integrate(world, 0); return err }); err == nil {
		t.Error("0 intervals gave no error")
	}
}
