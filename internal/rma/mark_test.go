package rma

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// about describes a waiter of a test.
type about string

func (a about) AppendAbout(b []byte) []byte { return append(b, a...) }

// Several goroutines flush at once, and all sleep when the answer to the first flush comes. The
// next flush is sent although the woken goroutines never call again, when a service receives the
// answer; and a delayed flush is sent when a service polls, or a goroutine that is about to sleep.
func TestFlushesAreAskedForThoughOthersDoNotCallAgain(t *testing.T) {
	for _, delayed := range []bool{false, true} {
		t.Run(fmt.Sprintf("delayed=%v", delayed), func(t *testing.T) {
			e, w, _ := withFakePeers(t, Created, make([]byte, 100))
			tg := to(w)
			state := func() link.ChannelState { return tg.Numbered(0).State() }
			ended := make(chan int, 3)
			wait := func(i int) {
				put := operation.Op{Kind: operation.Put, Origin: mem.Of(make([]byte, 8))}
				start(e, w, put, false)
				go func() {
					e.p.Lock()
					defer e.p.Unlock()
					if err := e.link.Settle(&tg.Target, false, about("a flush")); err != nil {
						t.Error(err)
					}
					ended <- i
				}()
				// All sleep: without polls to spare those who wait do so at once.
				for state().Waiters <= i || e.p.Polling() {
					e.p.Unlock()
					runtime.Gosched()
					e.p.Lock()
				}
			}
			wait(0)
			wait(1)
			if state().Wanted <= state().Asked {
				t.Fatalf("%d is wanted and %d asked for: the second flush does not wait for the first", state().Wanted, state().Asked)
			}
			answer := func() {
				h := wire.Header{Kind: wire.WinDone, Ctx: window, Arg: state().Asked}
				e.Frame(enemy, &h, nil)
			}
			if !delayed {
				answer()
				if state().Asked != state().Wanted {
					t.Fatalf("%d is wanted and %d asked for when a service has seen the answer", state().Wanted, state().Asked)
				}
			} else {
				// A third flush, while the first goroutine is woken and has not gone on.
				answer()
				answer()
				put := operation.Op{Kind: operation.Put, Origin: mem.Of(make([]byte, 8))}
				start(e, w, put, false)
				e.link.RequestFlushes(&tg.Target, false)
				if !e.p.Woken() || state().Asked >= state().Wanted {
					t.Fatalf("%d is wanted and %d asked for: the flush is not delayed", state().Wanted, state().Asked)
				}
				e.Work()
				if state().Asked != state().Wanted {
					t.Fatalf("%d is wanted and %d asked for when a service has polled", state().Wanted, state().Asked)
				}
			}
			for state().Asked != state().Done || state().Waiters > 0 || state().Wanted > state().Asked {
				if state().Asked > state().Done {
					answer()
				}
				e.Work()
				e.p.Unlock()
				runtime.Gosched()
				e.p.Lock()
			}
			if e.link.State().Delayed != 0 {
				t.Errorf("%d flushes are delayed when all is done", e.link.State().Delayed)
			}
			<-ended
			<-ended
		})
	}
}
