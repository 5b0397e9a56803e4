package main

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
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
			err := mpi.Run(n, func(world *mpi.Comm) error {
				token, err := ring(world, laps)
				if world.Rank() == 0 && token != serial {
					t.Errorf("%d laps round %d ranks: token %d, want %d", laps, n, token, serial)
				}
				return err
			})
			if err != nil {
				t.Errorf("%d laps round %d ranks: %v", laps, n, err)
			}
		}
	}
}
