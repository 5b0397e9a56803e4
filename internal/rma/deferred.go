package rma

import (
	"slices"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/link"
)

// postpone appends an operation to those that wait for its target's post. The lock is held.
func (e *Engine) postpone(t *target, o *link.Operation) {
	if t.rec.Gate.Load() != gateWaiting { // the post has come meanwhile
		e.perform(t, o)
		return
	}
	if len(t.deferred) == 0 {
		e.waiting = append(e.waiting, t)
		e.p.SetBusy(1)
	}
	t.deferred = append(t.deferred, o)
}

// drain carries out the operations that were deferred to t, whose post is there, and opens its
// gate: operations that are issued from now on are applied at once. The lock is held.
func (e *Engine) drain(t *target) {
	if planted.GateBeforeQueue {
		t.rec.Gate.CompareAndSwap(gateWaiting, gateOpen)
		e.p.Yield()
	}
	if len(t.deferred) > 0 {
		e.forget(t)
		if planted.DeferredBackwards {
			slices.Reverse(t.deferred)
		}
		for i, o := range t.deferred {
			t.deferred[i] = nil
			e.perform(t, o)
		}
		t.deferred = t.deferred[:0]
	}
	t.rec.Gate.CompareAndSwap(gateWaiting, gateOpen)
}

// forget removes t, which has deferred operations, from the list.
func (e *Engine) forget(t *target) {
	for i, o := range e.waiting {
		if o == t {
			last := len(e.waiting) - 1
			e.waiting[i], e.waiting[last] = e.waiting[last], nil
			e.waiting = e.waiting[:last]
			e.p.SetBusy(-1)
			return
		}
	}
}

// workDeferred carries out the operations that were deferred to targets which have posted.
func (e *Engine) workDeferred() int {
	n := 0
	for i := 0; i < len(e.waiting); i++ {
		if t := e.waiting[i]; t.w.exposed(t) {
			e.drain(t)
			i--
			n++
		}
	}
	return n
}

// lostDeferred ends the operations that were deferred to a process that has died.
func (e *Engine) lostDeferred(peer int) {
	for i := 0; i < len(e.waiting); i++ {
		t := e.waiting[i]
		if int(t.Process) != peer {
			continue
		}
		e.forget(t)
		i--
		for j, o := range t.deferred {
			t.deferred[j] = nil
			e.link.End(o, link.Gone(t.Rank, e.p.DownCause(peer)))
		}
		t.deferred = t.deferred[:0]
	}
}

// perform carries out a deferred operation, or starts it. The lock is held.
func (e *Engine) perform(t *target, o *link.Operation) {
	if o.Kind == link.Signal {
		e.signal(t, o)
		return
	}
	if o.InOrder {
		fence()
		if t.behindFrames() {
			e.dispatch(t, o)
			return
		}
	}
	switch t.path {
	case pathMapped:
		e.performed(t, o, o.Apply(&t.region, int64(o.Off)))
		return
	case pathDynamic:
		lo, hi, err := o.Place.Span(o.Size())
		made := false
		if err == nil {
			made, err = t.applyFound(&o.Op, o.Off, lo, hi, true)
		}
		if made || t.Rank == t.w.Comm.Rank {
			e.performed(t, o, err)
			return
		}
	}
	if !o.InOrder && !t.byFrame(&o.Op) && e.copies(t, &o.Op, o.Off, false) {
		e.performed(t, o, nil)
		return
	}
	e.dispatch(t, o) // the target reports what is wrong
}
