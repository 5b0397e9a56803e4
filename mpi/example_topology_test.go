package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// A grid of 2 times 3 processes, periodic in its rows: each sends its rank to the right.
func ExampleComm_CartCreate() {
	mpi.Run(6, func(world *mpi.Comm) error {
		c, err := world.CartCreate([]int{2, 3}, []bool{false, true}, true)
		if err != nil {
			return err
		}
		left, right, err := c.Cart().Shift(1, 1)
		if err != nil {
			return err
		}
		got := []int{0}
		if _, err := mpi.Sendrecv(c, []int{c.Rank()}, right, 0, got, left, 0); err != nil {
			return err
		}
		at, err := c.Cart().Coords(c.Rank())
		if err != nil {
			return err
		}
		if at[0] == 1 && at[1] == 0 {
			fmt.Println("left of", at, "is rank", got[0])
		}
		return c.Free()
	})
	// Output: left of [1 0] is rank 5
}

// Each process tells from whom it needs something and who needs something from it.
func ExampleComm_DistGraphCreateAdjacent() {
	mpi.Run(4, func(world *mpi.Comm) error {
		// A tree: process 0 is the root, and the parent of r is (r-1)/2.
		var parents, children []int
		if r := world.Rank(); r > 0 {
			parents = append(parents, (r-1)/2)
		}
		for _, r := range []int{2*world.Rank() + 1, 2*world.Rank() + 2} {
			if r < world.Size() {
				children = append(children, r)
			}
		}
		tree, err := world.DistGraphCreateAdjacent(parents, nil, children, nil, false)
		if err != nil {
			return err
		}
		if tree.Rank() == 1 {
			from, _ := tree.DistGraph().Sources()
			to, _ := tree.DistGraph().Dests()
			fmt.Println("rank 1 is between", from, "and", to)
		}
		return tree.Free()
	})
	// Output: rank 1 is between [0] and [3]
}

// A ring: each process sends one number to the left and one to the right. In a grid of one dimension
// the first block is for the process before, and the second for the one after.
func ExampleNeighborAlltoall() {
	mpi.Run(4, func(world *mpi.Comm) error {
		ring, err := world.CartCreate([]int{4}, []bool{true}, true)
		if err != nil {
			return err
		}
		me := ring.Rank()
		send, recv := []int{10*me + 1, 10*me + 2}, make([]int, 2)
		if err := mpi.NeighborAlltoall(ring, send, recv); err != nil {
			return err
		}
		if me == 1 {
			fmt.Println("from the left", recv[0], "from the right", recv[1])
		}
		return ring.Free()
	})
	// Output: from the left 2 from the right 21
}
