package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// Issue carries out an operation, or starts it; its request, if it has one, completes with it. An
// error says that nothing has changed. All operations come here but those that the fast paths of
// fastpath.go carry out; these call Issue where a few loads cannot decide.
func (v *View) Issue(a *operation.Op, rank int) (*p2p.Request, error) {
	w := v.w
	if err := v.handle.takes(rank); err != nil {
		return nil, err
	}
	if rank == ProcNull {
		return v.nothing(a)
	}
	t, err := w.target(rank)
	if err != nil {
		return nil, err
	}
	if a.Done != operation.None && !w.locks(t) {
		if err := w.live(); err != nil {
			return nil, err
		}
		lazy, err := w.lazyNow(t, a.Call)
		if err != nil {
			return nil, err
		}
		if !lazy {
			return nil, class.Errorf(class.RMASync, "%s belongs to epochs of Lock and LockAll", a.Call)
		}
	}
	g := w.rec.Mode.Load() | t.rec.Gate.Load()
	if g&gateOpen == 0 {
		if err := w.live(); err != nil {
			return nil, err
		}
		g, err = w.admit(t)
		if err != nil {
			return nil, err
		}
	}
	size := a.Size()
	if g == gateLazy && !fits(a, size) {
		if err := w.lockNow(t, a.Call); err != nil {
			return nil, err
		}
		g = gateOpen
	}
	if a.Disp < 0 && (w.flavor != Dynamic || v.handle != nil) {
		return nil, class.Errorf(class.Disp, "displacement %d is negative", a.Disp)
	}
	if a.Kind >= operation.Accumulate {
		if err := a.CheckElements(size); err != nil {
			return nil, err
		}
	}
	lo, hi, err := a.Place.Span(size)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return v.nothingAt(t, a, g)
	}
	off, err := v.offset(t, a.Disp, lo, hi)
	if err != nil {
		return nil, err
	}
	if g == gateLazy {
		if kept, err := w.e.keep(v, t, a, off); kept || err != nil {
			return nil, err
		}
		if err := w.lockNow(t, a.Call); err != nil {
			return nil, err
		}
		g = gateOpen
	}
	if g&gateOpen == 0 {
		if t.path == pathDynamic && rank == w.Comm.Rank { // no other process would report it
			if err := t.attached(a, off, lo, hi); err != nil {
				return nil, err
			}
		}
		return w.e.submit(v, t, a, off, (*Engine).postpone)
	}
	inOrder := v.inOrder()
	if inOrder {
		fence()
		if v.onlyFrames(t) {
			return w.e.transmit(v, t, a, off)
		}
	}
	switch t.path {
	case pathMapped:
		if err := a.Apply(&t.region, int64(off)); err != nil {
			return nil, err
		}
		return v.made(t, a)
	case pathDynamic:
		made, err := v.applyDynamic(t, a, off, lo, hi)
		if err != nil {
			return nil, err
		}
		if made || !inOrder && v.copy(t, a, off) {
			return v.made(t, a)
		}
	case pathBeside:
		if !inOrder && (a.Kind == operation.Put || a.Kind == operation.Get) {
			if err := a.Apply(&t.region, int64(off)); err != nil {
				return nil, err
			}
			return v.made(t, a)
		}
	case pathKernel:
		if !inOrder && !t.byFrame(a) && w.e.copy(t, a, off) {
			return v.made(t, a)
		}
	}
	return w.e.transmit(v, t, a, off)
}

// operation makes an operation of a that is not complete within its call. The lock is held.
func (v *View) operation(t *target, a *operation.Op, off uint64) *link.Operation {
	return v.w.e.link.NewOperation(&t.Target, v.number, a, off, link.Traits{InOrder: v.inOrder(), Ordered: v.Options().Ordering != 0})
}

// submit makes an operation of a and passes it to next: postpone or dispatch. It takes the lock.
func (e *Engine) submit(v *View, t *target, a *operation.Op, off uint64, next func(*Engine, *target, *link.Operation)) (*p2p.Request, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if cause := e.p.DownCause(int(t.Process)); cause != nil {
		return nil, link.Gone(t.Rank, cause)
	}
	o := v.operation(t, a, off)
	if o.Done != operation.None {
		o.Request = e.messages.NewRequest(v.w.Comm, o.Call)
		o.Request.YieldOften(true) // a service of the target answers, for which there may be no other core
	}
	r := o.Request
	next(e, t, o)
	return r, nil
}

// transmit has the target's service carry out an access. It takes the lock.
func (e *Engine) transmit(v *View, t *target, a *operation.Op, off uint64) (*p2p.Request, error) {
	if a.Done == operation.None && link.Coalescible(a) && e.coalesce(v, t, a, off) {
		return nil, nil
	}
	return e.submit(v, t, a, off, (*Engine).dispatch)
}

// coalesce adds a short access to the coalesced frame for t, and reports whether it did. It takes the lock.
func (e *Engine) coalesce(v *View, t *target, a *operation.Op, off uint64) bool {
	if v.number != 0 || a.Notify != 0 || a.Place.Type != nil {
		return false
	}
	e.p.Lock()
	defer e.p.Unlock()
	if e.p.DownCause(int(t.Process)) != nil || !e.link.Coalesce(&t.Target, a, off) {
		return false
	}
	t.rec.Framed.Store(true)
	return true
}

// dispatch is transmit for an operation. The lock is held.
func (e *Engine) dispatch(t *target, o *link.Operation) {
	t.rec.Framed.Store(true)
	e.link.Send(o)
}

// done returns the request of an operation that is complete, nil if it has none.
func (v *View) done(a *operation.Op) *p2p.Request {
	if a.Done == operation.None {
		return nil
	}
	return v.completed(a.Call)
}

// completed returns a request that is complete.
func (v *View) completed(by call.Number) *p2p.Request {
	e := v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	r := e.messages.NewRequest(v.w.Comm, by)
	e.messages.Finish(r, nil)
	return r
}

// nothing is an operation to ProcNull.
func (v *View) nothing(a *operation.Op) (*p2p.Request, error) {
	w := v.w
	if err := w.live(); err != nil {
		return nil, err
	}
	if a.Done != operation.None || v.handle != nil {
		if err := w.passiveAll(); err != nil {
			return nil, err
		}
	} else if w.rec.Mode.Load()&gateOpen == 0 {
		if _, err := w.admit(nil); err != nil {
			return nil, err
		}
	}
	return v.done(a), nil
}
