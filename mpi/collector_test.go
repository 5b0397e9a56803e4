package mpi_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// FTN-25: the garbage collector runs, and the stack of the goroutine moves, while operations are in
// progress on memory that only they refer to, and on variables of the goroutine: the data arrives.
func TestFTN25_MemoryStaysWhileOperationsAreInProgress(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		other := 1 - c.Rank()
		for _, n := range []int{1, 5000, 200000} {
			var one [1]int64
			in := make([]int64, n)
			rs := []mpi.Request{mpi.Irecv(c, in, other, 1), mpi.Irecv(c, []int64{0}, other, 2), mpi.Irecv(c, one[:], other, 3)}
			ok(t, c.Barrier()) // no message is sent earlier
			sends := func() []mpi.Request {
				out := make([]int64, n)
				for i := range out {
					out[i] = int64(n + i + other)
				}
				return []mpi.Request{mpi.Isend(c, out, other, 1), mpi.Isend(c, []int64{7}, other, 2), mpi.Isend(c, []int64{int64(n)}, other, 3)}
			}()
			for depth := range 4 {
				runtime.GC()
				_ = grown(1 << (8 + 2*depth))
			}
			ok(t, mpi.Waitall(sends, nil))
			ok(t, mpi.Waitall(rs, nil))
			for i, x := range in {
				if x != int64(n+i+c.Rank()) {
					t.Fatalf("element %d of %d is %d", i, n, x)
				}
			}
			if one[0] != int64(n) {
				t.Errorf("the variable is %d, want %d", one[0], n)
			}
		}
	})
}

// grown needs a stack of some hundred bytes for each level.
func grown(levels int) int {
	var room [32]int
	if levels == 0 {
		return slices.Max(room[:])
	}
	room[levels%32] = grown(levels - 1)
	return slices.Max(room[:])
}
