package p2p

import (
	"strconv"

	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Start starts a persistent request that is not active.
func (e *Engine) Start(r *Request) {
	r.Reset()
	r.Active, r.Told = true, 0
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
		if r.observer != nil {
			r.observer.WaitStarted()
		}
		e.p.Wait(&r.Event, r.hint())
	}
}

// NotifyWait calls the WaitObserver of r, if it has one. Wait, Test and Any do so for
// their requests. A caller that waits for several requests one after the other calls
// NotifyWait for all of them first.
func (e *Engine) NotifyWait(r *Request) {
	if r.observer != nil && r.Active && !r.Done() {
		r.observer.WaitStarted()
	}
}

// HasObservers reports whether any request has a WaitObserver.
func (e *Engine) HasObservers() bool { return e.observers > 0 }

// Startable reports whether a persistent request may be started.
func (r *Request) Startable() bool {
	return !r.Active || r.observer != nil && r.Done() && r.observer.Restartable()
}

// Test reports whether r is complete or inactive, and makes progress if not.
func (e *Engine) Test(r *Request) bool {
	if r.Active && !r.Done() {
		if r.observer != nil {
			r.observer.WaitStarted()
		}
		e.p.Progress(r.hint())
	}
	return !r.Active || r.Done()
}

// Arguments returns the peer's rank and the tag that r was made with, for errors.
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

// Scratch returns a slice of n nil requests, which the caller uses until Return.
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

// hint is the peer whose frame is expected to complete r.
func (r *Request) hint() int { return int(r.peer) }

// End must be called by a test or wait that has found r complete, before it reads the
// status and calls Take.
func (e *Engine) End(r *Request) {
	if r.observer != nil {
		r.Status.Err, r.restart = r.observer.WaitFinished(r.Status.Err)
	}
}

// Take ends the operation of a complete request and returns its error. A persistent
// request becomes inactive or starts again; any other is freed. The caller reads the rest
// of the status before.
func (e *Engine) Take(r *Request) error {
	err := r.Status.Err
	if r.Persistent {
		r.Active = false
		r.Status = Status{}
		r.Reset()
		if r.restart {
			r.restart = false
			e.Start(r)
		}
	} else {
		e.Free(r)
	}
	return err
}

// Any looks for a complete request in rs, and with wait waits for one. It ignores nil and
// inactive requests. It reports whether there are active ones, and the index of the first
// complete one, -1 if there is none.
func (e *Engine) Any(rs []*Request, wait bool) (active bool, done int) {
	if e.HasObservers() {
		for _, r := range rs {
			if r != nil {
				e.NotifyWait(r)
			}
		}
	}
	active, done = firstDone(rs)
	if !active || done >= 0 {
		return active, done
	}
	if wait {
		e.AwaitAny(rs)
	} else {
		e.p.Progress(-1)
	}
	return firstDone(rs)
}

// AwaitAny waits until a request in rs is complete, of which some must be active. It ignores nil and inactive requests.
func (e *Engine) AwaitAny(rs []*Request) {
	var g *anyWait
	if n := len(e.freeAnyWaits); n > 0 {
		g = e.freeAnyWaits[n-1]
		e.freeAnyWaits = e.freeAnyWaits[:n-1]
	} else {
		g = &anyWait{}
	}
	g.Event = proc.Event{About: g}
	g.requests = rs
	for _, r := range rs {
		if r != nil && r.Active {
			r.Also(&g.Event)
		}
	}
	e.p.Wait(&g.Event, -1)
	g.requests = nil
	for _, r := range rs {
		if r != nil && r.Active {
			r.Also(nil)
		}
	}
	e.freeAnyWaits = append(e.freeAnyWaits, g)
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

// Join makes r complete only when s is complete too. Nobody else may wait for s.
func (e *Engine) Join(r, s *Request) {
	r.mode = exchanges
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

// anyWait is the event that one of several requests is complete.
type anyWait struct {
	proc.Event
	requests []*Request
}

// Awaits implements proc.Awaiter.
func (g *anyWait) Awaits() int32 {
	for _, r := range g.requests {
		if r == nil || !r.Active {
			continue
		}
		if a := r.Awaits(); a == shmfmt.AwaitsUnknown || int(a) >= r.comm.Proc.Job().Size {
			return shmfmt.AwaitsUnknown
		}
	}
	return shmfmt.AwaitsAny
}

// AppendAbout implements proc.About: it names one of the requests.
func (g *anyWait) AppendAbout(b []byte) []byte {
	n := int64(0)
	var first *Request
	for _, r := range g.requests {
		if r != nil && r.Active {
			n++
			if first == nil {
				first = r
			}
		}
	}
	b = strconv.AppendInt(append(b, "the first of "...), n, 10)
	b = append(b, " requests"...)
	if first != nil {
		b = first.AppendAbout(append(b, ", one is "...))
	}
	return b
}
