package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Where is the smallest value, and what is it?
func ExampleValueIndex() {
	mpi.Run(3, func(world *mpi.Comm) error {
		mine := mpi.ValueIndex[float64, int]{Value: []float64{2.5, -1, 4}[world.Rank()], Index: world.Rank()}
		least, err := mpi.AllreduceOne(world, mine, mpi.Minloc)
		if world.Rank() == 0 {
			fmt.Printf("%v at rank %d\n", least.Value, least.Index)
		}
		return err
	})
	// Output: -1 at rank 1
}

// The greatest common divisor of what all ranks give.
func ExampleCreateOp() {
	divisor := mpi.CreateOp(func(in, inout []int) {
		for i := range inout {
			a, b := in[i], inout[i]
			for b != 0 {
				a, b = b, a%b
			}
			inout[i] = a
		}
	}, true)
	mpi.Run(4, func(world *mpi.Comm) error {
		d, err := mpi.AllreduceOne(world, 12*(world.Rank()+2), divisor)
		if world.Rank() == 0 {
			fmt.Println(d)
		}
		return err
	})
	// Output: 12
}

func ExampleReduceLocal() {
	total := []int{1, 2, 3}
	if err := mpi.ReduceLocal([]int{10, 20, 30}, total, mpi.Sum); err != nil {
		panic(err)
	}
	fmt.Println(total)
	// Output: [11 22 33]
}
