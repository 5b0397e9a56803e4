package mpi

import (
	"io"
	"os"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/leftover"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// leftovers records, in checking mode, what a process has made and must free or wait for, with
// the places of the calls. Finalize lists what is left. Freeing an object does not remove its
// entry, since the objects themselves tell: a request by its generation, and the next use of a
// request replaces its entry; communicators, windows and files by a mark. Entries of marked ones are
// removed each time the number of entries has doubled.
type leftovers struct {
	mu       sync.Mutex
	requests map[*p2p.Request]begun
	comms    map[*Comm]check.Call
	windows  map[*Window]check.Call
	files    map[*File]check.Call
	sweep    int // number of communicators, windows and files at which the next removal is due
}

// begun is a request that was returned to the program.
type begun struct {
	r    *p2p.Request
	gen  uint32
	at   check.Call
	self *Comm
}

func newLeftovers() *leftovers {
	return &leftovers{requests: make(map[*p2p.Request]begun), comms: make(map[*Comm]check.Call), windows: make(map[*Window]check.Call), files: make(map[*File]check.Call), sweep: 64}
}

// note records a request that is about to be returned to the program.
func (q *Request) note() {
	l := q.c.self.left
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests[q.r] = begun{q.r, q.gen(), located(q.call()), q.c.self}
}

// comm records a communicator.
func (l *leftovers) comm(c *Comm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.comms[c] = located(call.None)
	l.swept()
}

// window records a window.
func (l *leftovers) window(w *Window) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.windows[w] = located(call.None)
	l.swept()
}

// file records a file.
func (l *leftovers) file(f *File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[f] = located(call.None)
	l.swept()
}

// openFile returns an error, which is not raised, if a file of the world model of c is open; nil outside of checking
// mode. The program must close all files before Finalize (MPI-5, 14.2.1).
func (l *leftovers) openFile(c *Comm) *Error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for f, at := range l.files {
		if !f.c.freed.Load() && f.c.self == c.self {
			e := stillOpen(f, c)
			e.Detail += " (" + placeOf(&at) + ")"
			return e
		}
	}
	return nil
}

func (l *leftovers) swept() {
	if len(l.comms)+len(l.windows)+len(l.files) < l.sweep {
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
	for f := range l.files {
		if f.c.freed.Load() {
			delete(l.files, f)
		}
	}
	l.sweep = 2*(len(l.comms)+len(l.windows)+len(l.files)) + 64
}

// report writes to out what is left of the world model, or the session, of c, or only its requests.
func (l *leftovers) report(c *Comm, requestsOnly bool, out io.Writer) {
	var list leftover.List
	p, self := c.w.Proc, c.self
	p.Lock()
	l.mu.Lock()
	var left []begun
	for r, b := range l.requests {
		if r.Gen.Load() == b.gen && !r.Freed() && b.self == self {
			left = append(left, b)
		}
	}
	p.Unlock()
	for _, b := range left {
		if b.r.Persistent {
			list.Add("freed", "persistent request", b.at.Name, placeOf(&b.at))
		} else {
			list.Add("waited for", "request", b.at.Name, placeOf(&b.at))
		}
	}
	if !requestsOnly {
		for c, at := range l.comms {
			if !c.freed.Load() && c.self == self {
				list.Add("freed", "communicator", "", placeOf(&at))
			}
		}
		for w, at := range l.windows {
			if !w.c.freed.Load() && w.c.self == self {
				list.Add("freed", "window", "", placeOf(&at))
			}
		}
		for f, at := range l.files {
			if !f.c.freed.Load() && f.c.self == self {
				list.Add("closed", "file", "", placeOf(&at))
			}
		}
	}
	l.mu.Unlock()
	io.WriteString(out, list.Text(p.Job().Rank))
}

// reportLeftovers lists in checking mode what the process has left when it calls Finalize.
func (c *Comm) reportLeftovers(requestsOnly bool) {
	if l := c.self.left; l != nil {
		l.report(c, requestsOnly, os.Stderr)
	}
}
