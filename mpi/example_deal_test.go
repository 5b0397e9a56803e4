package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// One rank sends its data to all others.
func ExampleBcast() {
	mpi.Run(3, func(world *mpi.Comm) error {
		settings := make([]float64, 2)
		if world.Rank() == 0 {
			settings[0], settings[1] = 0.5, 1e-6
		}
		err := mpi.Bcast(world, settings, 0)
		if world.Rank() == 2 {
			fmt.Println(settings)
		}
		return err
	})
	// Output: [0.5 1e-06]
}

// Slices are added up element by element.
func ExampleReduce() {
	mpi.Run(3, func(world *mpi.Comm) error {
		mine := []int{world.Rank(), 1}
		total := make([]int, 2)
		err := mpi.Reduce(world, mine, total, mpi.Sum, 0)
		if world.Rank() == 0 {
			fmt.Println(total)
		}
		return err
	})
	// Output: [3 3]
}

// The root distributes equal blocks and collects the results of the ranks.
func ExampleScatter() {
	mpi.Run(3, func(world *mpi.Comm) error {
		var all []int // only the root needs it
		if world.Rank() == 0 {
			all = []int{1, 2, 3, 4, 5, 6}
		}
		mine := make([]int, 2)
		if err := mpi.Scatter(world, all, mine, 0); err != nil {
			return err
		}
		for i := range mine {
			mine[i] *= mine[i]
		}
		err := mpi.Gather(world, mine, all, 0)
		if world.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	// Output: [1 4 9 16 25 36]
}

// Blocks of different lengths: 7 elements for 3 ranks.
func ExampleScatterv() {
	mpi.Run(3, func(world *mpi.Comm) error {
		counts := []int{3, 2, 2}
		var all []int
		if world.Rank() == 0 {
			all = []int{0, 1, 2, 3, 4, 5, 6}
		}
		mine := make([]int, counts[world.Rank()])
		err := mpi.Scatterv(world, all, counts, nil, mine, 0)
		if world.Rank() == 1 {
			fmt.Println(mine)
		}
		return err
	})
	// Output: [3 4]
}

// Every rank sends a different number of elements to each other rank. The ranks exchange these
// numbers first.
func ExampleAlltoallv() {
	mpi.Run(3, func(world *mpi.Comm) error {
		// Rank r has r numbers for rank 0, r+1 for rank 1 and r+2 for rank 2.
		var send []int
		sendCounts := make([]int, world.Size())
		for to := range sendCounts {
			sendCounts[to] = world.Rank() + to
			for range sendCounts[to] {
				send = append(send, 10*world.Rank()+to)
			}
		}
		recvCounts := make([]int, world.Size())
		if err := mpi.Alltoall(world, sendCounts, recvCounts); err != nil {
			return err
		}
		total := 0
		for _, n := range recvCounts {
			total += n
		}
		recv := make([]int, total)
		err := mpi.Alltoallv(world, send, sendCounts, nil, recv, recvCounts, nil)
		if world.Rank() == 1 {
			fmt.Println(recvCounts, recv)
		}
		return err
	})
	// Output: [1 2 3] [1 11 11 21 21 21]
}

// Running totals: each rank gets the sum of its own and of those below.
func ExampleScan() {
	mpi.Run(4, func(world *mpi.Comm) error {
		paid := []int{10 * (world.Rank() + 1)}
		balance := []int{0}
		err := mpi.Scan(world, paid, balance, mpi.Sum)
		if world.Rank() == 3 {
			fmt.Println(balance[0])
		}
		return err
	})
	// Output: 100
}

// A sum of long slices of which each rank needs only one block.
func ExampleReduceScatterBlock() {
	mpi.Run(2, func(world *mpi.Comm) error {
		mine := []int{1, 2, 3, 4}
		block := make([]int, 2)
		err := mpi.ReduceScatterBlock(world, mine, block, mpi.Sum)
		if world.Rank() == 1 {
			fmt.Println(block)
		}
		return err
	})
	// Output: [6 8]
}
