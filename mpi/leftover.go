package mpi

import (
	"io"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/leftover"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// leftovers is what a process that checks has made and has to free, or to wait for, with the
// places of the calls. Finalize lists what is left. Nothing is taken out when it is freed, since
// the objects say so themselves: requests by their generation, which makes the next use of one
// replace the entry; communicators and windows by a mark, and those that have it leave whenever
// the number of entries has doubled.
type leftovers struct {
	mu       sync.Mutex
	requests map[*p2p.Request]begun
	comms    map[*Comm]check.Call
	windows  map[*Window]check.Call
	sweep    int // how many communicators and windows there are when the next sweep is due
}

// begun is a request that the program has been given.
type begun struct {
	r   *p2p.Request
	gen uint32
	at  check.Call
}

func newLeftovers() *leftovers {
	return &leftovers{requests: make(map[*p2p.Request]begun), comms: make(map[*Comm]check.Call), windows: make(map[*Window]check.Call), sweep: 64}
}

// note notes a request that the program is about to be given.
func (q *Request) note() {
	l := q.c.self.left
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests[q.r] = begun{q.r, q.r.Gen, located(q.call().String())}
}

// comm notes a communicator.
func (l *leftovers) comm(c *Comm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.comms[c] = located("")
	l.swept()
}

// window notes a window.
func (l *leftovers) window(w *Window) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.windows[w] = located("")
	l.swept()
}

func (l *leftovers) swept() {
	if len(l.comms)+len(l.windows) < l.sweep {
		return
	}
	for c := range l.comms {
		if c.freed.Load() && !c.making.Load() {
			delete(l.comms, c)
		}
	}
	for w := range l.windows {
		if w.c.freed.Load() {
			delete(l.windows, w)
		}
	}
	l.sweep = 2*(len(l.comms)+len(l.windows)) + 64
}

// report writes what is left in the process of c, or its requests only, to out.
func (l *leftovers) report(c *Comm, requestsOnly bool, out io.Writer) {
	var list leftover.List
	p := c.w.Proc
	p.Lock()
	l.mu.Lock()
	var left []begun
	for r, b := range l.requests {
		if r.Gen == b.gen && !r.Freed() {
			left = append(left, b)
		}
	}
	p.Unlock()
	for _, b := range left {
		if b.r.Persistent {
			list.Add("freed", "persistent request", nameOfCall(&b.at), placeOf(&b.at))
		} else {
			list.Add("waited for", "request", nameOfCall(&b.at), placeOf(&b.at))
		}
	}
	if !requestsOnly {
		for c, at := range l.comms {
			if !c.freed.Load() {
				list.Add("freed", "communicator", "", placeOf(&at))
			}
		}
		for w, at := range l.windows {
			if !w.c.freed.Load() {
				list.Add("freed", "window", "", placeOf(&at))
			}
		}
	}
	l.mu.Unlock()
	io.WriteString(out, list.Text(c.Rank()))
}

// reportLeftovers lists what is left when Finalize is called, in checking mode.
func (c *Comm) reportLeftovers(requestsOnly bool) {
	if l := c.self.left; l != nil {
		l.report(c, requestsOnly, os.Stderr)
	}
}
