package rma

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
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
			c := &to(w).main
			ended := make(chan int, 3)
			wait := func(i int) {
				put := Op{Kind: Put, Origin: mem.Of(make([]byte, 8))}
				start(e, w, put, false)
				m := e.requestFlush(c)
				go func() {
					e.p.Lock()
					defer e.p.Unlock()
					if err := e.waitMark(c, m, false, about("a flush")); err != nil {
						t.Error(err)
					}
					ended <- i
				}()
				// All sleep: without polls to spare those who wait do so at once.
				for len(c.waits) <= i || e.p.Polling() {
					e.p.Unlock()
					runtime.Gosched()
					e.p.Lock()
				}
			}
			wait(0)
			wait(1)
			if c.wanted <= c.asked {
				t.Fatalf("%d is wanted and %d asked for: the second flush does not wait for the first", c.wanted, c.asked)
			}
			answer := func() {
				h := wire.Header{Kind: wire.WinDone, Ctx: window, Arg: c.asked}
				e.Frame(enemy, &h, nil)
			}
			if !delayed {
				answer()
				if c.asked != c.wanted {
					t.Fatalf("%d is wanted and %d asked for when a service has seen the answer", c.wanted, c.asked)
				}
			} else {
				// A third flush, while the first goroutine is woken and has not gone on.
				answer()
				answer()
				put := Op{Kind: Put, Origin: mem.Of(make([]byte, 8))}
				start(e, w, put, false)
				if m := e.requestFlush(c); !e.p.Woken() || c.asked >= m.done {
					t.Fatalf("%d is wanted and %d asked for: the flush is not delayed", c.wanted, c.asked)
				}
				e.Work()
				if c.asked != c.wanted {
					t.Fatalf("%d is wanted and %d asked for when a service has polled", c.wanted, c.asked)
				}
			}
			for c.asked != c.done || len(c.waits) > 0 || c.wanted > c.asked {
				if c.asked > c.done {
					answer()
				}
				e.Work()
				e.p.Unlock()
				runtime.Gosched()
				e.p.Lock()
			}
			if len(e.delayed) != 0 {
				t.Errorf("%d flushes are delayed when all is done", len(e.delayed))
			}
			<-ended
			<-ended
		})
	}
}
