package rma

import (
	"math"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// Who waits for the answer of a target yields its core between polls. A service of the target answers, which is one
// thread more than there are ranks: where each core has a rank, and the target computes, it may have no other core.
func TestFlushesYieldToServicesOfTargets(t *testing.T) {
	yields := 0
	policy := proc.Policy{Loads: math.MaxInt, Often: true, Slice: time.Hour, Yield: func() { yields++ }}
	e, w, f := withFakePeersAnd(t, Allocated, make([]byte, 8), policy)
	for flush := range uint64(2) {
		start(e, w, operation.Op{Kind: operation.Put, Origin: mem.Of(make([]byte, 8))}, false)
		polls, answered := 0, false
		yields = 0
		f.poll = func() {
			polls++
			if !answered && (yields > 2 || polls == 10_000) {
				answered = true
				deliver(e, wire.Header{Kind: wire.WinDone, Arg: flush + 1}, nil)
			}
		}
		if err := w.settleLocked(to(w), false, call.WinFlush); err != nil {
			t.Fatal(err)
		}
		if yields <= 2 {
			t.Errorf("flush %d: %d yields in %d polls", flush, yields, polls)
		}
	}
}
