package mpi_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// A struct of numbers is a type; a struct that contains references to memory is not.
func ExampleTypeOf() {
	type particle struct {
		ID       int32
		Position [3]float64
	}
	d, err := mpi.TypeOf[particle]()
	if err != nil {
		fmt.Println(err)
		return
	}
	size, _ := d.Size()
	_, extent, _ := d.Extent()
	fmt.Println(size, "bytes of data in", extent)

	type named struct {
		ID   int32
		Name string
	}
	_, err = mpi.TypeOf[named]()
	fmt.Println(errors.Is(err, mpi.ErrType), err)
	// Output:
	// 28 bytes of data in 32
	// true mpi: TypeOf: mpi_test.named.Name is a string: memory of this process, which means nothing to another; send []byte(s), or have an array of bytes (MPI_ERR_TYPE)
}

// A column of a matrix that is stored by rows: one element of each row.
func ExampleTypeVector() {
	const rows, columns = 3, 4
	mpi.Run(2, func(world *mpi.Comm) error {
		float, err := mpi.TypeOf[float64]()
		if err != nil {
			return err
		}
		column, err := mpi.TypeVector(rows, 1, columns, float)
		if err == nil {
			err = column.Commit()
		}
		if err != nil {
			return err
		}
		matrix := make([]float64, rows*columns)
		if world.Rank() == 0 {
			for i := range matrix {
				matrix[i] = float64(i)
			}
			return world.Send(mpi.BufOf(matrix[1:], 1, column), 1, 0) // column 1
		}
		_, err = world.Recv(mpi.BufOf(matrix[3:], 1, column), 0, 0) // becomes column 3
		fmt.Println(matrix)
		return err
	})
	// Output: [0 0 0 1 0 0 0 5 0 0 0 9]
}

// A block of a matrix, by its position.
func ExampleTypeSubarray() {
	number, err := mpi.TypeOf[int32]()
	if err != nil {
		fmt.Println(err)
		return
	}
	block, err := mpi.TypeSubarray([]int{4, 5}, []int{2, 3}, []int{1, 2}, mpi.OrderC, number)
	if err == nil {
		err = block.Commit()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	matrix := make([]int32, 4*5)
	for i := range matrix {
		matrix[i] = int32(i)
	}
	packed, err := mpi.Pack(nil, mpi.BufOf(matrix, 1, block))
	if err != nil {
		fmt.Println(err)
		return
	}
	part := make([]int32, 2*3)
	if _, err := mpi.Unpack(packed, mpi.Buf(part)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(part)
	// Output: [7 8 9 12 13 14]
}

// Data of several types in one message: packed, and unpacked in the same order.
func ExamplePack() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			values := []float64{0.5, 1.5, 2.5}
			message, err := mpi.Pack(nil, mpi.Buf([]int{len(values)}))
			if err == nil {
				message, err = mpi.Pack(message, mpi.Buf(values))
			}
			if err != nil {
				return err
			}
			return mpi.Send(world, message, 1, 0)
		}
		message, _, err := mpi.RecvSlice[byte](world, 0, 0)
		if err != nil {
			return err
		}
		n := []int{0}
		rest, err := mpi.Unpack(message, mpi.Buf(n))
		if err != nil {
			return err
		}
		values := make([]float64, n[0])
		_, err = mpi.Unpack(rest, mpi.Buf(values))
		fmt.Println(values)
		return err
	})
	// Output: [0.5 1.5 2.5]
}

// Contents tells how a type was made.
func ExampleDatatype_Contents() {
	v, err := mpi.TypeVector(3, 2, 5, mpi.Byte())
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := v.Contents()
	fmt.Println(c.Combiner, c.Integers, c.Types, err)
	// Output: vector [3 2 5] [MPI_BYTE] <nil>
}
