package rma

import (
	"slices"

	"github.com/halo-mpi/halo/internal/planted"
)

// postpone appends an operation to those that wait for its target's post. The lock is held.
func (e *Engine) postpone(o *operation) {
	t := o.target
	if t.rec.Gate.Load() != gateWaiting { // the post has come meanwhile
		e.perform(o)
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
			e.perform(o)
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
		if int(t.process) != peer {
			continue
		}
		e.forget(t)
		i--
		for j, o := range t.deferred {
			t.deferred[j] = nil
			e.end(o, gone(t.rank, e.p.DownCause(peer)))
		}
		t.deferred = t.deferred[:0]
	}
}

// perform carries out a deferred operation, or starts it. The lock is held.
func (e *Engine) perform(o *operation) {
	t := o.target
	if o.Kind == kindSignal {
		e.signal(o)
		return
	}
	inOrder := o.view != nil && o.view.inOrder()
	if inOrder {
		fence()
		if o.view.onlyFrames(t) {
			e.dispatch(o)
			return
		}
	}
	switch t.path {
	case pathMapped:
		e.performed(o, o.apply(&t.region, int64(o.off)))
		return
	case pathDynamic:
		lo, hi, err := o.Place.span(o.size())
		made := false
		if err == nil {
			made, err = t.applyFound(&o.Op, o.off, lo, hi, true)
		}
		if made || t.rank == t.w.Comm.Rank {
			e.performed(o, err)
			return
		}
	}
	if !inOrder && !t.byFrame(&o.Op) && e.copies(t, &o.Op, o.off, false) {
		e.performed(o, nil)
		return
	}
	e.dispatch(o) // the target reports what is wrong
}

// end completes an operation at the origin and frees it. The lock is held.
func (e *Engine) end(o *operation, err error) {
	if r := o.request; r != nil {
		e.messages.Finish(r, err)
	}
	e.freeOperation(o)
}
