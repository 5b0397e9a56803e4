package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// operation is an Op that is not complete within its call: it is deferred, or under way in frames.
// An Op that is complete at once needs none. The code that ends it calls Engine.freeOperation.
//
// The bytes of the origin belong to the caller until the operation is complete there. Short ones
// are copied.
type operation struct {
	Op
	view    *View
	target  *target
	channel *channel // of target
	off     uint64   // bytes from the beginning of the target's memory; in dynamic windows an address

	request *p2p.Request // finished when the operation is complete at the origin; may be nil
	operationLink

	short [2][maxElement]byte // copies for Origin and Compare
}

// maxElement is the size of the longest element in bytes.
const maxElement = 64

// newOperation returns an operation that is a copy of a. The lock is held.
func (e *Engine) newOperation(v *View, c *channel, a *Op, off uint64) *operation {
	var o *operation
	if n := len(e.pool); n > 0 {
		o = e.pool[n-1]
		e.pool = e.pool[:n-1]
	} else {
		o = &operation{}
	}
	o.Op, o.view, o.target, o.channel, o.off = *a, v, c.target, c, off
	if b, ok := a.Origin.Bytes(); ok && len(b) <= maxElement && a.Kind != Get {
		o.Origin = mem.Of(o.short[0][:copy(o.short[0][:], b)])
	}
	if a.Kind == CompareAndSwap {
		o.Compare = o.short[1][:copy(o.short[1][:], a.Compare)]
	}
	return o
}

// freeOperation frees an operation. The lock is held.
func (e *Engine) freeOperation(o *operation) {
	*o = operation{}
	if len(e.pool) < poolMax {
		e.pool = append(e.pool, o)
	}
}

// poolMax is how many operations are kept for reuse.
const poolMax = 1024

// Issue carries out an operation, or starts it; its request, if it has one, completes with it. An
// error says that nothing has changed. All operations come here but those that the fast paths of
// fastpath.go carry out; these call Issue where a few loads cannot decide.
func (v *View) Issue(a *Op, rank int) (*p2p.Request, error) {
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
	if a.Done != None && !w.locks(t) {
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
	size := a.size()
	if g == gateLazy && !a.fits(size) {
		if err := w.lockNow(t, a.Call); err != nil {
			return nil, err
		}
		g = gateOpen
	}
	if a.Disp < 0 && (w.flavor != Dynamic || v.handle != nil) {
		return nil, class.Errorf(class.Disp, "displacement %d is negative", a.Disp)
	}
	if a.Kind >= Accumulate {
		if err := a.checkElements(size); err != nil {
			return nil, err
		}
	}
	lo, hi, err := a.Place.span(size)
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
		if err := a.apply(&t.region, int64(off)); err != nil {
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
		if !inOrder && (a.Kind == Put || a.Kind == Get) {
			if err := a.apply(&t.region, int64(off)); err != nil {
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

// submit makes an operation of a and passes it to next: postpone or dispatch. It takes the lock.
func (e *Engine) submit(v *View, t *target, a *Op, off uint64, next func(*Engine, *operation)) (*p2p.Request, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if cause := e.p.DownCause(int(t.process)); cause != nil {
		return nil, gone(t.rank, cause)
	}
	o := e.newOperation(v, t.channel(v), a, off)
	if o.Done != None {
		o.request = e.messages.NewRequest(v.w.Comm, o.Call)
		o.request.YieldOften(true) // see reachMark
	}
	r := o.request
	next(e, o)
	return r, nil
}

// transmit has the target's service carry out an access. It takes the lock.
func (e *Engine) transmit(v *View, t *target, a *Op, off uint64) (*p2p.Request, error) {
	if a.Done == None && a.coalescible() && e.coalesceNow(v, t, a, off) {
		return nil, nil
	}
	return e.submit(v, t, a, off, (*Engine).dispatch)
}

// dispatch is transmit for an operation. The lock is held.
func (e *Engine) dispatch(o *operation) {
	o.target.rec.Framed.Store(true)
	e.remote(o)
}

// done returns the request of an operation that is complete, nil if it has none.
func (v *View) done(a *Op) *p2p.Request {
	if a.Done == None {
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
func (v *View) nothing(a *Op) (*p2p.Request, error) {
	w := v.w
	if err := w.live(); err != nil {
		return nil, err
	}
	if a.Done != None || v.handle != nil {
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
