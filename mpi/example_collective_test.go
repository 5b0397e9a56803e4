package mpi_test

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/mpi"
)

// One value of each rank needs no slices.
func ExampleAllreduceOne() {
	mpi.Run(4, func(world *mpi.Comm) error {
		most, err := mpi.AllreduceOne(world, world.Rank()*world.Rank(), mpi.Max)
		if world.Rank() == 0 {
			fmt.Println("the largest square is", most)
		}
		return err
	})
	// Output: the largest square is 9
}

// The index in the whole at which this rank's part begins is the sum of the lengths of the ranks
// below.
func ExampleExscanOne() {
	mpi.Run(3, func(world *mpi.Comm) error {
		mine := []string{"ab", "c", "def"}[world.Rank()]
		first, err := mpi.ExscanOne(world, len(mine), mpi.Sum)
		if world.Rank() == 2 {
			fmt.Printf("%q begins at %d\n", mine, first)
		}
		return err
	})
	// Output: "def" begins at 3
}

// Collecting slices of different lengths takes two steps: first their lengths, then the slices.
func ExampleGatherv() {
	mpi.Run(3, func(world *mpi.Comm) error {
		mine := slices.Repeat([]int{world.Rank()}, world.Rank()+1)
		counts, err := mpi.AllgatherOne(world, len(mine))
		if err != nil {
			return err
		}
		all := make([]int, 1+2+3)
		err = mpi.Gatherv(world, mine, all, counts, nil, 0)
		if world.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	// Output: [0 1 1 2 2 2]
}

// Each rank sends a number to every other rank.
func ExampleAlltoall() {
	mpi.Run(3, func(world *mpi.Comm) error {
		send, recv := make([]int, 3), make([]int, 3)
		for to := range send {
			send[to] = 10*world.Rank() + to
		}
		err := mpi.Alltoall(world, send, recv)
		if world.Rank() == 1 {
			fmt.Println(recv)
		}
		return err
	})
	// Output: [1 11 21]
}

// In place: the send slice is the rank's own block of the receive slice.
func ExampleAllgather() {
	mpi.Run(3, func(world *mpi.Comm) error {
		all, me := make([]float64, 3), world.Rank()
		all[me] = float64(me) / 2
		err := mpi.Allgather(world, all[me:me+1], all)
		if me == 0 {
			fmt.Println(all)
		}
		return err
	})
	// Output: [0 0.5 1]
}

// A nonblocking collective makes progress while the program computes.
func ExampleIallreduce() {
	mpi.Run(2, func(world *mpi.Comm) error {
		norm := []float64{float64(world.Rank() + 1)}
		r := mpi.Iallreduce(world, norm, norm, mpi.Sum)
		// ... compute what does not need the norm ...
		if _, err := r.Wait(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(norm[0])
		}
		return nil
	})
	// Output: 3
}

// A persistent collective is prepared once and started many times.
func ExampleBcastInit() {
	mpi.Run(3, func(world *mpi.Comm) error {
		step := make([]int, 1)
		r := mpi.BcastInit(world, step, 0)
		for i := range 3 {
			if world.Rank() == 0 {
				step[0] = 10 * i
			}
			if err := r.Start(); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
			if world.Rank() == 2 {
				fmt.Println(step[0])
			}
		}
		return r.Free()
	})
	// Output:
	// 0
	// 10
	// 20
}
