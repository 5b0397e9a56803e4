package mpi_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Eight ranks flood one that receives nothing: what it buffers stays bounded,
// and a message with a later tag gets through all the same. Then everything is
// received, in order.
func TestFlowControlBoundsWhatIsBuffered(t *testing.T) {
	const (
		senders = 8
		size    = 4 << 10
		bound   = 160 << 20 // bytes: 8 windows of 2 MiB, twice for the collector, and what else lives here
	)
	total := 64 << 20 // bytes from each
	if raceBuild || testing.Short() {
		total = 16 << 20
	}
	messages := total / size
	mpitest.Run(t, senders+1, func(t testing.TB, c *mpi.Comm) {
		const flood, later = 1, 2
		if c.Rank() > 0 {
			var sent atomic.Int64
			var all sync.WaitGroup
			all.Go(func() {
				buf := make([]int64, size/8)
				for i := range messages {
					buf[0], buf[len(buf)-1] = int64(i), int64(c.Rank())
					if err := mpi.Send(c, buf, 0, flood); err != nil {
						t.Error(err)
						return
					}
					sent.Add(1)
				}
			})
			all.Go(func() {
				for sent.Load() < 400 { // the flood is under way: most of the credit is used
					runtime.Gosched()
				}
				if err := mpi.Send(c, []int64{int64(c.Rank())}, 0, later); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			return
		}
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		check := func(when string) {
			runtime.ReadMemStats(&now)
			if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > bound {
				t.Errorf("%s: %d MiB are in use, the bound is %d", when, grown>>20, bound>>20)
			}
		}
		for r := 1; r <= senders; r++ {
			got := make([]int64, 1)
			if _, err := mpi.Recv(c, got, r, later); err != nil || got[0] != int64(r) {
				t.Fatalf("from %d: %v, %v", r, got, err)
			}
		}
		check("before anything of the flood is received")
		buf := make([]int64, size/8)
		next := make([]int64, senders+1)
		for i := range senders * messages {
			st, err := mpi.Recv(c, buf, mpi.AnySource, flood)
			if err != nil {
				t.Fatal(err)
			}
			if buf[0] != next[st.Source] || buf[len(buf)-1] != int64(st.Source) {
				t.Fatalf("message %d from %d has number %d, mark %d", next[st.Source], st.Source, buf[0], buf[len(buf)-1])
			}
			next[st.Source]++
			if i%20000 == 0 {
				check("while receiving")
			}
		}
	})
}
