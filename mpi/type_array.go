package mpi

import "github.com/halo-mpi/halo/internal/dtype"

// Order is the order in which the elements of an array with several dimensions lie
// in memory.
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

// TypeSubarray makes a type of the part of an array with lengths sizes that begins
// at starts and has the lengths subsizes. Its extent is that of the whole array.
// Lists of different lengths, and empty ones, are ErrDims.
//
// C: MPI_Type_create_subarray, section 5.1.3.
func TypeSubarray(sizes, subsizes, starts []int, order Order, old Datatype) (Datatype, error) {
	return constructor("TypeSubarray").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		return dtype.Subarray(wide(sizes), wide(subsizes), wide(starts), dtype.Order(order), old)
	})
}

// Distribution is how one dimension of an array is dealt out to processes.
//
// C: MPI_DISTRIBUTE_NONE and so on, section 5.1.4.
type Distribution int

// The distributions, and the argument that leaves the length of blocks to them.
//
// C: MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, section 5.1.4.
const (
	DistributeNone    = Distribution(dtype.DistributeNone)   // not at all
	DistributeBlock   = Distribution(dtype.DistributeBlock)  // one block for each process
	DistributeCyclic  = Distribution(dtype.DistributeCyclic) // blocks in turn
	DistributeDefault = dtype.DistributeDefault              // blocks that just suffice, or of one element
)

// Distribute says how one dimension of an array is dealt out to one dimension of a
// grid of processes.
//
// C: MPI_Type_create_darray, section 5.1.4.
type Distribute struct {
	Size  int // of the array
	Kind  Distribution
	Arg   int // length of blocks, or DistributeDefault
	Procs int // in the grid
}

// TypeDarray makes a type of the part of a distributed array that rank of size
// processes holds, in an array of all. The processes form a grid in the order of C,
// whatever the order of the array. No dimensions are ErrDims.
//
// C: MPI_Type_create_darray, section 5.1.4.
func TypeDarray(size, rank int, dims []Distribute, order Order, old Datatype) (Datatype, error) {
	return constructor("TypeDarray").of(old, func(old *dtype.Type) (*dtype.Type, error) {
		list := make([]dtype.Distribute, len(dims))
		for i, d := range dims {
			list[i] = dtype.Distribute{Size: int64(d.Size), Kind: dtype.Distribution(d.Kind), Arg: int64(d.Arg), Procs: int64(d.Procs)}
		}
		return dtype.Darray(int64(size), int64(rank), list, dtype.Order(order), old)
	})
}
