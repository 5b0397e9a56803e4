package p2p

import (
	"strconv"

	"github.com/halo-mpi/halo/internal/proc"
)

// Start starts a persistent request that is not active.
func (e *Engine) Start(r *Request) {
	r.Reset()
	r.Active = true
	r.parts = 1
	r.Status = Status{}
	switch {
	case r.starter != nil:
		r.Status.Source, r.Status.Tag = AnySource, AnyTag
		r.starter.Begin()
	case r.Send:
		e.startSend(r)
	default:
		r.peer = r.node.Src
		e.startRecv(r)
	}
}

// Wait waits for r.
func (e *Engine) Wait(r *Request) {
	if r.Active && !r.Done() {
		if r.attendant != nil {
			r.attendant.Attend()
		}
		e.p.Wait(&r.Event, r.hint())
	}
}

// Attend tells an operation that the program looks for its end. Wait, Test and Any do so
// by themselves; who waits for several, one after the other, does it for all before.
func (e *Engine) Attend(r *Request) {
	if r.attendant != nil && r.Active && !r.Done() {
		r.attendant.Attend()
	}
}

// Attends reports whether there are operations that Attend is for.
func (e *Engine) Attends() bool { return e.attendants > 0 }

// Startable reports whether a persistent request may be started.
func (r *Request) Startable() bool {
	return !r.Active || r.attendant != nil && r.Done() && r.attendant.Renews()
}

// Test reports whether r is complete or inactive, and makes progress if not.
func (e *Engine) Test(r *Request) bool {
	if r.Active && !r.Done() {
		if r.attendant != nil {
			r.attendant.Attend()
		}
		e.p.Progress(r.hint())
	}
	return !r.Active || r.Done()
}

// Arguments are the peer's rank and the tag that r was made with, for errors.
func (r *Request) Arguments() (peer int, tag int32) {
	process := r.peer
	if !r.Send {
		process = r.node.Src
	}
	if process >= 0 {
		return r.comm.RankOf(process), r.tag
	}
	return int(process), r.tag
}

// Scratch returns a slice of n nil requests that is the caller's until Return.
func (e *Engine) Scratch(n int) []*Request {
	s := e.scratch
	e.scratch = nil
	if cap(s) < n {
		s = make([]*Request, n)
	}
	return s[:n]
}

// Return takes a slice of Scratch back.
func (e *Engine) Return(s []*Request) {
	clear(s)
	e.scratch = s[:0]
}

// hint is the peer from whom the completion of r is expected.
func (r *Request) hint() int { return int(r.peer) }

// End is what a test or wait calls of a request that it has found complete, before it reads
// the status and calls Take.
func (e *Engine) End(r *Request) {
	if r.attendant != nil {
		r.Status.Err, r.again = r.attendant.Taken(r.Status.Err)
	}
}

// Take ends the operation of a request that is done and returns its error: a
// persistent request becomes inactive, or begins again, and any other is freed. What else
// is in the status is to be read before.
func (e *Engine) Take(r *Request) error {
	err := r.Status.Err
	if r.Persistent {
		r.Active = false
		r.Status = Status{}
		r.Reset()
		if r.again {
			r.again = false
			e.Start(r)
		}
	} else {
		e.Free(r)
	}
	return err
}

// Any looks for a request of rs that is done, and with wait waits until there is
// one. Nil requests and inactive ones are passed over. It reports whether there
// are others, and the index of the first that is done, -1 if none is.
func (e *Engine) Any(rs []*Request, wait bool) (active bool, done int) {
	if e.Attends() {
		for _, r := range rs {
			if r != nil {
				e.Attend(r)
			}
		}
	}
	active, done = firstDone(rs)
	if !active || done >= 0 {
		return active, done
	}
	if !wait {
		e.p.Progress(-1)
		return firstDone(rs)
	}
	var g *group
	if n := len(e.waits); n > 0 {
		g = e.waits[n-1]
		e.waits = e.waits[:n-1]
	} else {
		g = &group{}
		g.About = g
	}
	g.Reset()
	g.of = rs
	for _, r := range rs {
		if r != nil && r.Active {
			r.Also(&g.Event)
		}
	}
	e.p.Wait(&g.Event, -1)
	g.of = nil
	for _, r := range rs {
		if r != nil && r.Active {
			r.Also(nil)
		}
	}
	e.waits = append(e.waits, g)
	return firstDone(rs)
}

func firstDone(rs []*Request) (active bool, done int) {
	for i, r := range rs {
		if r != nil && r.Active {
			if r.Done() {
				return true, i
			}
			active = true
		}
	}
	return active, -1
}

// Join makes r complete only when s, which nobody else waits for, is complete too.
func (e *Engine) Join(r, s *Request) {
	pending, err := e.SetWhole(s, r)
	if !pending {
		if err != nil && r.Status.Err == nil {
			r.Status.Err = err
		}
		return
	}
	if r.Done() {
		r.Reset()
		r.parts = 1
	} else {
		r.parts++
	}
}

// group is the event that one of several requests is done.
type group struct {
	proc.Event
	of []*Request
}

// AppendAbout implements proc.About: it names one of the requests.
func (g *group) AppendAbout(b []byte) []byte {
	n := int64(0)
	var first *Request
	for _, r := range g.of {
		if r != nil && r.Active {
			if n++; first == nil {
				first = r
			}
		}
	}
	b = strconv.AppendInt(append(b, "the first of "...), n, 10)
	if b = append(b, " requests"...); first != nil {
		b = first.AppendAbout(append(b, ", one is "...))
	}
	return b
}
