package mpi_test

import (
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A persistent request with a layout sends the current data each time it is started, and
// receives into the same places: short and long messages, of small blocks and of pages.
func TestPersistentLayoutsStartAgain(t *testing.T) {
	for _, v := range []struct{ count, blocklength, stride int }{{10, 1, 2}, {9000, 1, 2}, {130_000, 1, 2}, {12, 1024, 1500}} {
		t.Run(fmt.Sprintf("%d blocks of %d", v.count, v.blocklength), func(t *testing.T) {
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				double := typ(t)(mpi.TypeOf[float64]())
				there := typ(t)(mpi.TypeVector(v.count, v.blocklength, v.stride, double))
				back := typ(t)(mpi.TypeVector(v.count*v.blocklength, 1, -3, double)) // in reverse order
				from, to := make([]float64, v.count*v.stride), make([]float64, 3*v.count*v.blocklength)
				peer := 1 - c.Rank()
				rs := []mpi.Request{
					c.RecvInit(mpi.BufAt(to, len(to)-1, 1, back), peer, 1),
					[]func(mpi.Buffer, int, int) mpi.Request{c.SendInit, c.SsendInit}[c.Rank()](mpi.BufOf(from, 1, there), peer, 1),
				}
				ok(t, there.Free())
				ok(t, back.Free())
				for round := range 4 {
					for i := range from {
						from[i] = float64(i + 1000*round)
					}
					for i := range to {
						to[i] = -1
					}
					ok(t, mpi.Startall(rs))
					ok(t, mpi.Waitall(rs, nil))
					for i, got := range to {
						want := -1.0
						if k := len(to) - 1 - i; k%3 == 0 {
							want = float64(k/3/v.blocklength*v.stride + k/3%v.blocklength + 1000*round)
						}
						if got != want {
							t.Fatalf("round %d: number %d is %v, want %v", round, i, got, want)
						}
					}
				}
				for i := range rs {
					ok(t, rs[i].Free())
				}
			})
		})
	}
}

// A cancelled receive into a layout stores nothing, and the message is received by the next
// receive, whatever happens to the first one's Buffer.
func TestCancelledReceiveOfALayout(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, count := range []int{3, 20_000} {
			vector := typ(t)(mpi.TypeVector(count, 1, 2, typ(t)(mpi.TypeOf[int32]())))
			mem, other := make([]int32, 2*count), make([]int32, 2*count)
			if c.Rank() == 0 {
				r := c.Irecv(mpi.BufOf(other, 1, vector), 1, 1)
				ok(t, r.Cancel())
				st, err := r.Wait()
				ok(t, err)
				if !st.Cancelled() {
					t.Fatal("the receive is not cancelled, though nothing was sent")
				}
				ok(t, c.Barrier())
				ok(t, second(c.Recv(mpi.BufOf(mem, 1, vector), 1, 1)))
			} else {
				for i := range mem {
					mem[i] = int32(i + 1)
				}
				ok(t, c.Barrier())
				ok(t, c.Send(mpi.BufOf(mem, 1, vector), 0, 1))
				continue
			}
			for i, v := range mem {
				if want := int32((i + 1) * (1 - i%2)); v != want || other[i] != 0 {
					t.Fatalf("number %d of %d is %d, want %d; that of the cancelled receive is %d", i, count, v, want, other[i])
				}
			}
		}
	})
}
