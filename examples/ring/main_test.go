package main

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestTokenIsTheSumOfAllShares(t *testing.T) {
	for n := 1; n <= 4; n++ {
		for _, laps := range []int{0, 1, 25} {
			var serial int64
			for range laps {
				for rank := range n {
					serial += int64(rank + 1)
				}
			}
			mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
				token, err := ring(world, laps)
				if err != nil {
					t.Fatal(err)
				}
				if world.Rank() == 0 && token != serial {
					t.Errorf("%d laps round %d ranks: token %d, want %d", laps, n, token, serial)
				}
			})
		}
	}
}
