package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// The smallest value, and the rank that has it.
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

// A user-defined operation for a struct with gaps: it selects the cheapest candidate of all
// ranks, and of equally cheap ones the first.
func ExampleComm_Allreduce() {
	type offer struct {
		Cost   float32
		Seller uint8
	}
	cheapest := mpi.CreateOp(func(in, inout []offer) {
		for i := range inout {
			if in[i].Cost <= inout[i].Cost {
				inout[i] = in[i]
			}
		}
	}, false)
	mpi.Run(3, func(world *mpi.Comm) error {
		me := world.Rank()
		mine := []offer{{Cost: []float32{7, 5, 5}[me], Seller: uint8(me)}}
		best := make([]offer, 1)
		err := world.Allreduce(mpi.Buf(mine), mpi.Buf(best), cheapest)
		if me == 0 {
			fmt.Printf("%v by %d\n", best[0].Cost, best[0].Seller)
		}
		return err
	})
	// Output: 5 by 1
}

// The sum of one column of each rank's matrix; the other columns do not change. Predefined
// operations are not defined on derived types, so that the example defines an operation.
func ExampleCreateOpFunc() {
	const rows, columns = 3, 4
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		panic(err)
	}
	column, err := mpi.TypeVector(rows, 1, columns, double)
	if err != nil {
		panic(err)
	}
	if err := column.Commit(); err != nil {
		panic(err)
	}
	sum := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
		a, _ := mpi.MemoryOf[float64](in)
		b, _ := mpi.MemoryOf[float64](inout)
		for i := 0; i < len(b); i += columns {
			b[i] += a[i]
		}
	}, true)
	mpi.Run(2, func(world *mpi.Comm) error {
		matrix := make([]float64, rows*columns)
		for i := range matrix {
			matrix[i] = float64(i)
		}
		second := mpi.BufOf(matrix[1:], 1, column)
		err := world.Allreduce(second, second, sum)
		if world.Rank() == 0 {
			for i := range rows {
				fmt.Println(matrix[columns*i : columns*(i+1)])
			}
		}
		return err
	})
	// Output:
	// [0 2 2 3]
	// [4 10 6 7]
	// [8 18 10 11]
}

func ExampleOp_ReduceLocal() {
	type point struct{ X, Y, Z float64 }
	points := []point{{1, 2, 3}, {4, 5, 6}}
	double, err := mpi.TypeOf[float64]()
	if err != nil {
		panic(err)
	}
	// All coordinates of the points, as numbers.
	if err := mpi.Sum.ReduceLocal(mpi.Buf([]float64{10, 20, 30, 40, 50, 60}), mpi.BufOf(points, 6, double)); err != nil {
		panic(err)
	}
	fmt.Println(points)
	// Output: [{11 22 33} {44 55 66}]
}

func ExampleMemoryOf() {
	cells := make([]int32, 6)
	first := mpi.Buf(cells[:4])
	mem, origin := mpi.MemoryOf[int32](first)
	mem[origin] = 7
	fmt.Println(cells, len(mem))
	// Output: [7 0 0 0 0 0] 4
}
