package main

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

func TestFarmFindsWhatASieveFinds(t *testing.T) {
	for _, limit := range []int{0, 3, chunk, chunk + 1, 5*chunk - 17} {
		want := sieve(limit)
		for n := 1; n <= 4; n++ {
			mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
				if world.Rank() != 0 {
					if err := work(world); err != nil {
						t.Error(err)
					}
					return
				}
				got, err := master(world, limit)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("below %d on %d ranks: %d primes, want %d", limit, n, len(got), len(want))
				}
			})
		}
	}
}

// sieve is Eratosthenes', to share nothing with the program.
func sieve(limit int) []int {
	composite := make([]bool, limit)
	var primes []int
	for n := 2; n < limit; n++ {
		if composite[n] {
			continue
		}
		primes = append(primes, n)
		for m := n * n; m < limit; m += n {
			composite[m] = true
		}
	}
	return primes
}
