package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// operation is an Op that is not made within its call: it is deferred, or under way in frames.
// An Op that is made at once needs none. Whoever ends it gives it back to
// Engine.freeOperation.
//
// The bytes of the origin belong to the caller until the operation is complete there, but
// for short ones, which are copied.
type operation struct {
	Op
	view    *View
	target  *target
	channel *channel // of target
	off     uint64   // bytes from the beginning of the target's memory; in dynamic windows an address

	request *p2p.Request // finished when the operation is complete at the origin; may be nil
	operationLink

	short [2][maxElement]byte // what Origin and Compare are, if they have been copied
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

// freeOperation takes an operation back. The lock is held.
func (e *Engine) freeOperation(o *operation) {
	*o = operation{}
	if len(e.pool) < poolMax {
		e.pool = append(e.pool, o)
	}
}

// poolMax is how many operations are kept for reuse.
const poolMax = 1024

// Issue makes an operation, or starts it; the request, if it is to have one, stands for it. What is
// wrong with it is an error, and then nothing has been changed. All operations come here but for
// those that the short ways in short.go make; these hand over to Issue where a few loads cannot decide.
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
			return nil, fail(class.RMASync, "%s belongs to epochs of Lock and LockAll", a.Call)
		}
	}
	g := w.rec.Mode.Load() | t.rec.Gate.Load()
	if g&gateOpen == 0 {
		if err := w.live(); err != nil {
			return nil, err
		}
		if g, err = w.admit(t); err != nil {
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
		return nil, fail(class.Disp, "displacement %d is negative", a.Disp)
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
		if t.path == pathDynamic && rank == w.Comm.Rank { // nobody else would tell
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
	case pathKernel:
		if !inOrder && w.e.copy(t, a, off) {
			return v.made(t, a)
		}
	}
	return w.e.transmit(v, t, a, off)
}
