package rma

import (
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// RC-02, RC-05, RC-06: eight goroutines get, fetch and compare. As long as none of them has been woken,
// each request is sent at once. When the answers have come to all of them, and they go on one after the
// other, the next eight requests are sent together: by the poller, or by what else is sent to the target.
func TestRC02_RC05_RC06_RequestsOfSeveralGoroutinesLeaveTogether(t *testing.T) {
	const goroutines = 8
	value := make([]byte, 8)
	for name, request := range map[string]operation.Op{
		"get":              {Kind: operation.Get},
		"fetch_and_op":     {Kind: operation.Accumulate, Origin: mem.Of(value), Fn: op.Sum, Elem: op.Int64},
		"compare_and_swap": {Kind: operation.CompareAndSwap, Origin: mem.Of(value), Compare: value, Elem: op.Int64},
	} {
		t.Run(name, func(t *testing.T) {
			e, w, f := withFakePeers(t, Created, make([]byte, 100))
			f.holds = true
			tg := to(w)
			issue := func(n int, named bool) {
				for range n {
					x := request
					x.Result = mem.Of(make([]byte, 8))
					start(e, w, x, named)
				}
			}
			ended := make(chan error, goroutines)
			for i := range goroutines {
				issue(1, false)
				go func() {
					e.p.Lock()
					defer e.p.Unlock()
					ended <- e.link.Settle(&tg.Target, true, about("an answer"))
				}()
				for tg.Numbered(0).State().Waiters <= i || e.p.Polling() {
					e.p.Unlock()
					runtime.Gosched()
					e.p.Lock()
				}
			}
			first := f.take()
			if f.calls != goroutines || len(first) != goroutines {
				t.Fatalf("%d frames in %d calls while nobody is woken, want %d in as many", len(first), f.calls, goroutines)
			}
			answer := func(frames []sentFrame) {
				for _, s := range frames {
					h := wire.Header{Kind: wire.WinReply, Ctx: window, Name: s.h.Name, Size: 8}
					e.Frame(enemy, &h, make([]byte, 8))
				}
			}
			answer(first)
			if !e.p.Woken() {
				t.Fatal("the answers have woken nobody")
			}
			f.calls = 0
			issue(goroutines, false)
			if f.calls != 0 || len(f.held) != goroutines {
				t.Fatalf("%d calls, and %d frames are held, while goroutines are about to go on, want none and %d", f.calls, len(f.held), goroutines)
			}
			e.Work()
			if second := f.take(); f.calls != 1 || len(second) != goroutines || e.link.State().Delayed != 0 {
				t.Fatalf("%d frames in %d calls when a service has polled, want %d in one; %d channels are delayed", len(second), f.calls, goroutines, e.link.State().Delayed)
			} else {
				answer(second)
			}
			f.calls = 0
			issue(goroutines-1, false)
			issue(1, true) // nobody need wait for it
			if third := f.take(); f.calls != 1 || len(third) != goroutines {
				t.Fatalf("%d frames in %d calls with a request of MPI, want %d in one", len(third), f.calls, goroutines)
			} else {
				answer(third)
			}
			e.Work()
			if e.link.State().Delayed != 0 || e.link.Requests(enemy) != 0 {
				t.Errorf("%d channels are delayed and %d requests open when all is answered", e.link.State().Delayed, e.link.Requests(enemy))
			}
			e.p.Unlock()
			for range goroutines {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			e.p.Lock()
		})
	}
}
