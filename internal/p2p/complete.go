package p2p

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/proc"
)

// Start starts a persistent request that is not active.
func (e *Engine) Start(r *Request) {
	r.Reset()
	r.Active = true
	r.parts = 1
	r.Status = Status{}
	if r.Send {
		e.startSend(r)
	} else {
		r.peer = r.node.Src
		e.startRecv(r)
	}
}

// Wait waits for r.
func (e *Engine) Wait(r *Request) {
	if r.Active && !r.Done() {
		e.p.Wait(&r.Event, r.hint())
	}
}

// hint is the peer from whom the completion of r is expected.
func (r *Request) hint() int { return int(r.peer) }

// Take ends the operation of a request that is done: its status is returned, a
// persistent request becomes inactive and any other is freed.
func (e *Engine) Take(r *Request) Status {
	s := r.Status
	if r.Persistent {
		r.Active = false
		r.Status = Status{}
		r.Reset()
	} else {
		e.Free(r)
	}
	return s
}

// WaitAny waits until one of rs that is active is done. Nil requests and
// inactive ones are passed over; it reports false if there are no others.
func (e *Engine) WaitAny(rs []*Request) bool {
	active := false
	for _, r := range rs {
		if r != nil && r.Active {
			if r.Done() {
				return true
			}
			active = true
		}
	}
	if !active {
		return false
	}
	var g *proc.Event
	if n := len(e.waits); n > 0 {
		g = e.waits[n-1]
		e.waits = e.waits[:n-1]
	} else {
		g = new(proc.Event)
	}
	g.Reset()
	for _, r := range rs {
		if r != nil && r.Active {
			r.Also(g)
		}
	}
	e.p.Wait(g, -1)
	for _, r := range rs {
		if r != nil && r.Active {
			r.Also(nil)
		}
	}
	e.waits = append(e.waits, g)
	return true
}

// Cancel cancels a receive that has not been matched; it then completes with a
// status that says so. Sends are never cancelled (MPI-5 3.8.4 deprecates it).
func (e *Engine) Cancel(r *Request) {
	if r.Active && !r.Send && !r.Done() && e.table.Cancel(&r.node) {
		r.Status = Status{Source: AnySource, Tag: AnyTag, Cancelled: true}
		e.finish(r, nil)
	}
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

// PendingError is the error of a request in a status array that has not completed.
func PendingError() error {
	return &class.Error{Class: class.Pending, Text: "request is still pending"}
}
