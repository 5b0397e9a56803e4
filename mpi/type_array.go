package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Order is the order in memory of the elements of an array with several dimensions.
//
// C: MPI_ORDER_C and MPI_ORDER_FORTRAN, section 5.1.3.
type Order int

// The orders.
//
// C: MPI_ORDER_C and MPI_ORDER_FORTRAN, section 5.1.3.
const (
	OrderC       = Order(dtype.OrderC)       // the last dimension varies fastest, as in Go
	OrderFortran = Order(dtype.OrderFortran) // the first varies fastest
)

// TypeSubarray makes a type of a part of an array. sizes are the lengths of the array, subsizes
// those of the part, and starts its first indices. The extent is that of the whole array.
// ErrDims if the lists have different lengths or are empty.
//
// C: MPI_Type_create_subarray, section 5.1.3.
func TypeSubarray(sizes, subsizes, starts []int, order Order, old Datatype) (Datatype, error) {
	return constructor(call.TypeCreateSubarray).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Subarray(wide(sizes), wide(subsizes), wide(starts), dtype.Order(order), old)
	})
}

// Distribution is the way in which one dimension of an array is distributed to processes.
//
// C: MPI_DISTRIBUTE_NONE and so on, section 5.1.4.
type Distribution int

// The distributions, and the Arg that lets the distribution choose the length of blocks.
//
// C: MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, section 5.1.4.
const (
	DistributeNone    = Distribution(dtype.DistributeNone)   // not distributed
	DistributeBlock   = Distribution(dtype.DistributeBlock)  // one block for each process
	DistributeCyclic  = Distribution(dtype.DistributeCyclic) // blocks in round-robin order
	DistributeDefault = dtype.DistributeDefault              // shortest sufficient blocks; if cyclic, one element
)

// Distribute describes how one dimension of an array is distributed to one dimension of a grid
// of processes.
//
// C: MPI_Type_create_darray, section 5.1.4.
type Distribute struct {
	Size  int // length of this dimension of the array
	Kind  Distribution
	Arg   int // length of blocks, or DistributeDefault
	Procs int // length of this dimension of the grid
}

// TypeDarray makes a type of the part of a distributed array that rank holds, of size processes.
// The displacements are those in the whole array. The processes form a grid in the order of C,
// whatever the order of the array. ErrDims if dims is empty.
//
// C: MPI_Type_create_darray, section 5.1.4.
func TypeDarray(size, rank int, dims []Distribute, order Order, old Datatype) (Datatype, error) {
	return constructor(call.TypeCreateDarray).of(old, func(old *dtype.Type) (*dtype.Type, error) {
		list := make([]dtype.Distribute, len(dims))
		for i, d := range dims {
			list[i] = dtype.Distribute{Size: int64(d.Size), Kind: dtype.Distribution(d.Kind), Arg: int64(d.Arg), Procs: int64(d.Procs)}
		}
		return dtype.Darray(int64(size), int64(rank), list, dtype.Order(order), old)
	})
}
