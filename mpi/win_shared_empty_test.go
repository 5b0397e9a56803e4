package mpi_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// X-RMA-02: members of a shared window may have no memory, including the first and the last, and
// others may query it: memory of 0 bytes has its address, where the memory of the ranks before ends.
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
					at := func(mem []byte) int64 { return mpi.Address(unsafe.Slice(unsafe.SliceData(mem), 1)) }
					whole, _, err := w.SharedQuery(0)
					ok(t, err)
					var before int64
					for rank, size := range sizes {
						mem, _, err := w.SharedQuery(rank)
						ok(t, err)
						if int64(len(mem)) != size {
							t.Errorf("rank %d has %d bytes, want %d", rank, len(mem), size)
						}
						if got := at(mem) - at(whole); got != before {
							t.Errorf("the %d bytes of rank %d are %d bytes behind those of rank 0, want %d", size, rank, got, before)
						}
						if own := w.Untyped().Local(); rank == c.Rank() && at(own) != at(mem) {
							t.Errorf("the %d bytes of rank %d are at %#x, its own query has %#x", size, rank, at(own), at(mem))
						}
						before += size
						ok(t, w.Untyped().Put(mpi.Buf([]byte{}), rank, size, 0, mpi.Byte())) // no data, at the end of the memory
					}
					first, _, err := w.SharedQuery(mpi.ProcNull)
					ok(t, err)
					if before == 0 && at(first) != at(whole) {
						t.Errorf("nobody has memory: it is at %#x, that of rank 0 at %#x", at(first), at(whole))
					}
					ok(t, w.Fence(0))
					ok(t, w.Free())
				})
			})
		}
	}
}
