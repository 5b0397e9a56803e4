package main

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The workers add up all numbers, however many they are. Ranks that are goroutines cannot spawn, so the two
// sides are halves of the world.
func TestWorkersComputeTheSum(t *testing.T) {
	for n := 2; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			color := min(world.Rank(), 1) // rank 0 has the others as workers
			half, err := world.Split(color, 0)
			if err != nil {
				t.Fatal(err)
			}
			other, err := mpi.IntercommCreate(half, 0, world, 1-color, 0)
			if err != nil {
				t.Fatal(err)
			}
			if color == 1 {
				if err := work(half, other); err != nil {
					t.Error(err)
				}
				return
			}
			if got, err := sumBy(half, other, 1000); err != nil || got != 500500 {
				t.Errorf("%d workers: %d, %v", n-1, got, err)
			}
		})
	}
}
