package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Two groups, each with its first member as leader: the members of one group send values to the
// other group, which combines them.
func ExampleIntercommCreate() {
	mpi.Run(5, func(world *mpi.Comm) error {
		side, other := 0, 2 // ranks 0 and 1, and the other ranks
		if world.Rank() >= 2 {
			side, other = 1, 0
		}
		group, err := world.Split(side, world.Rank())
		if err != nil {
			return err
		}
		c, err := mpi.IntercommCreate(group, 0, world, other, 1)
		if err != nil {
			return err
		}
		sum := []int{0}
		if err := mpi.Allreduce(c, []int{world.Rank()}, sum, mpi.Sum); err != nil { // of the other group
			return err
		}
		if c.Rank() == 0 && side == 0 {
			fmt.Println(c.Size(), "here and", c.RemoteSize(), "there, who add up to", sum[0])
		}
		all, err := c.Merge(side == 0) // the other group comes first
		if err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("rank 0 of the world is", all.Rank(), "of", all.Size())
		}
		for _, c := range []*mpi.Comm{all, c, group} {
			if err := c.Free(); err != nil {
				return err
			}
		}
		return nil
	})
	// Output:
	// 2 here and 3 there, who add up to 9
	// rank 0 of the world is 3 of 5
}
