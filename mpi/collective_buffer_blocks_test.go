package mpi_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Receive blocks may lie anywhere in a type whose elements would overlap if there were more of
// them, such as the blocks of a matrix. Only blocks that themselves overlap are ErrType (MPI-5,
// 6.5).
func TestBlocksOfOverlappingElements(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		n, me := c.Size(), c.Rank()
		block, err := mpi.TypeVector(2, 2, 4, typ(t)(mpi.Predefined("MPI_INT"))) // 2x2 of a matrix of 4 columns
		if err == nil {
			block, err = mpi.TypeResized(block, 0, 8)
		}
		if err == nil {
			err = block.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		matrix, mine, ones, displs := make([]int32, 8*n), []int32{int32(me), 1, 2, 3}, make([]int, n), make([]int, n)
		for r := range n {
			ones[r], displs[r] = 1, 4*r+r%2 // a row of blocks each, left or right
		}
		recv := mpi.BufPtr(unsafe.Pointer(&matrix[0]), 4*n-2, block)
		if err := c.Allgatherv(mpi.Buf(mine), recv, ones, displs); err != nil {
			t.Fatal(err)
		}
		for r := range n {
			for k, want := range []int32{int32(r), 1, 2, 3} {
				if got := matrix[8*r+2*(r%2)+4*(k/2)+k%2]; got != want {
					t.Errorf("element %d of rank %d is %d, want %d", k, r, got, want)
				}
			}
		}
		twos := make([]int, n)
		twos[0] = 2
		narrow, err := mpi.TypeResized(block, 0, 4)
		if err != nil || narrow.Commit() != nil {
			t.Fatal(err)
		}
		long := mpi.Buf(make([]int32, 4*twos[me]))
		if err := c.Allgatherv(long, mpi.BufOf(matrix, 2, narrow), twos, make([]int, n)); !errors.Is(err, mpi.ErrType) {
			t.Errorf("elements of a block that overlap: %v", err)
		}
	})
}

// Data that is sent may lie between the blocks that are received, and vice versa, but not in
// them (MPI-5, 6.5 and 6.8).
func TestBlocksBetweenBlocks(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		n, me := c.Size(), c.Rank()
		both, ones, even, odd := make([]int32, 2*n), make([]int, n), make([]int, n), make([]int, n)
		for r := range n {
			ones[r], even[r], odd[r] = 1, 2*r, 2*r
			both[2*r] = int32(10*me + r)
		}
		if err := mpi.Alltoallv(c, both, ones, even, both[1:], ones, odd); err != nil {
			t.Fatal(err)
		}
		for r := range n {
			if got, want := both[2*r+1], int32(10*r+me); got != want {
				t.Errorf("from rank %d came %d, want %d", r, got, want)
			}
		}
		if err := mpi.Allgatherv(c, both[2:3], both[1:], ones, odd); err != nil {
			t.Error(err)
		}
		if err := mpi.Allgatherv(c, both[2:3], both, ones, []int{1 + me, 2 - me}); !errors.Is(err, mpi.ErrBuffer) {
			t.Errorf("what is sent is in another's block: %v", err)
		}
	})
}

// Calls that use a BufError fail with its class and text.
func TestBufError(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		bad := mpi.Internals.BufError(mpi.ErrCount, "%d elements of something", 12)
		err := c.Send(bad, 1-c.Rank(), 0)
		if !errors.Is(err, mpi.ErrCount) || !strings.Contains(err.Error(), "12 elements of something") {
			t.Errorf("Send returned %v", err)
		}
		if err := c.Self().Allreduce(bad, mpi.Buf(make([]int32, 1)), mpi.Sum); !errors.Is(err, mpi.ErrCount) {
			t.Errorf("Allreduce returned %v", err)
		}
		if err := waitFor(c.Ibcast(bad, 0)); !errors.Is(err, mpi.ErrCount) {
			t.Errorf("Ibcast returned %v", err)
		}
	})
}
