package mpi_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// X-RMA-02: members of a shared window may have no memory, including the first and the last, and
// others may query it.
func TestXRMA02_MembersWithoutMemory(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		if fabric == "tcp" {
			continue // over tcp ranks share no memory
		}
		for _, sizes := range [][]int64{{0, 64, 0}, {64, 0, 0}, {0, 0, 0}, {4096, 2752, 0}, {0, 0, 16}} {
			t.Run(fmt.Sprint(fabric, sizes), func(t *testing.T) {
				mpitest.On(t, fabric, len(sizes), func(t testing.TB, c *mpi.Comm) {
					w, err := c.WinAllocateShared(sizes[c.Rank()], 1)
					ok(t, err)
					ok(t, w.Fence(0))
					for rank, size := range sizes {
						mem, _, err := w.SharedQuery(rank)
						ok(t, err)
						if int64(len(mem)) != size {
							t.Errorf("rank %d has %d bytes, want %d", rank, len(mem), size)
						}
						ok(t, w.Untyped().Put(mpi.Buf([]byte{}), rank, size, 0, mpi.Byte())) // no data, at the end of the memory
					}
					ok(t, w.Fence(0))
					ok(t, w.Free())
				})
			})
		}
	}
}
