package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
)

// kind is what an operation does.
type kind uint8

const (
	kindPut kind = iota
	kindGet
	kindAccumulate // with a result: get_accumulate and fetch_and_op
	kindCompare
)

// call is the name of the call that makes an access of the kind.
func (k kind) call() string {
	return [...]string{"Put", "Get", "Accumulate", "CompareAndSwap"}[k]
}

// access is what an operation does at its target, as the call says it.
type access struct {
	kind   kind
	op     op.Op
	typ    op.Type // of accumulates
	origin Data    // what is put, the operand of an accumulate, the new value of kindCompare
	result Data    // what is got: the values before
	// compare is what the element has to be for kindCompare.
	compare []byte
	disp    int64  // in displacement units; an address in a dynamic window
	acked   bool   // its request is complete when it is complete at the target
	layout  Layout // no Type: contiguous
	// notice is 1 + the counter of the target that goes up when the access is complete
	// there, 0 if none does.
	notice uint32
}

// size is the number of packed bytes.
func (a *access) size() int64 {
	if a.kind == kindGet || a.op == op.NoOp {
		return a.result.size()
	}
	return a.origin.size()
}

// fetches reports whether an access asks for data.
func (a *access) fetches() bool {
	return a.kind == kindGet || a.kind == kindCompare || a.kind == kindAccumulate && (a.result.Bytes != nil || a.result.Layout != nil)
}

// silent reports whether the answers to an access carry nothing.
func (a *access) silent() bool { return a.acked && !a.fetches() }

// answers reports whether requests are made of an access.
func (a *access) answers() bool { return a.acked || a.fetches() }

// operation is an access that is not made within its call: it is deferred, or under way
// in frames. An access that is made at once needs none. Whoever ends it gives it back to
// Engine.freeOperation.
//
// The bytes of the origin belong to the caller until the operation is complete there,
// but for those of fetch_and_op and compare_and_swap, which are copied, and layouts.
type operation struct {
	access
	view    *View
	target  *target
	channel *channel // of target
	off     uint64   // bytes from the beginning of the target's memory; in dynamic windows an address

	request *p2p.Request // finished when the operation is complete at the origin; may be nil
	operationLink

	layouts [2]dtype.Buffer     // what origin.Layout and result.Layout point to
	short   [2][maxElement]byte // what origin.Bytes and compare are, if they have been copied
}

// maxElement is the size of the longest element in bytes.
const maxElement = 64

// newOperation returns an operation that is a copy of what a says. The lock is held.
func (e *Engine) newOperation(v *View, c *channel, a *access, off uint64) *operation {
	var o *operation
	if n := len(e.pool); n > 0 {
		o = e.pool[n-1]
		e.pool = e.pool[:n-1]
	} else {
		o = &operation{}
	}
	o.access, o.view, o.target, o.channel, o.off = *a, v, c.target, c, off
	if a.origin.Layout != nil {
		o.layouts[0] = *a.origin.Layout
		o.origin.Layout = &o.layouts[0]
	}
	if a.result.Layout != nil {
		o.layouts[1] = *a.result.Layout
		o.result.Layout = &o.layouts[1]
	}
	if n := len(a.origin.Bytes); n <= maxElement && a.kind != kindGet {
		o.origin.Bytes = o.short[0][:copy(o.short[0][:], a.origin.Bytes)]
	}
	if a.kind == kindCompare {
		o.compare = o.short[1][:copy(o.short[1][:], a.compare)]
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

// issue carries out a call.
func (v *View) issue(a *access, rank int) error {
	_, err := v.carryOut(a, rank, "")
	return err
}

// carryOut makes the access or starts it; with what, the name of the call, a request
// stands for it.
func (v *View) carryOut(a *access, rank int, what string) (*p2p.Request, error) {
	w := v.w
	if err := v.handle.takes(rank); err != nil {
		return nil, err
	}
	if rank == ProcNull {
		return v.nothing(what)
	}
	t, err := w.target(rank)
	if err != nil {
		return nil, err
	}
	if what != "" && (w.mode.Load()&modeLockAll|t.gate.Load()&gateLocked) == 0 {
		if err := w.live(); err != nil {
			return nil, err
		}
		lazy, err := w.lazyNow(t, what)
		if err != nil {
			return nil, err
		}
		if !lazy {
			return nil, fail(class.RMASync, "%s belongs to epochs of Lock and LockAll", what)
		}
	}
	g := w.mode.Load() | t.gate.Load()
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
		if err := w.lockNow(t, a.kind.call()); err != nil {
			return nil, err
		}
		g = gateOpen
	}
	if a.disp < 0 && (w.flavor != Dynamic || v.handle != nil) {
		return nil, fail(class.Disp, "displacement %d is negative", a.disp)
	}
	if a.kind >= kindAccumulate {
		if err := a.checkElements(size); err != nil {
			return nil, err
		}
	}
	lo, hi, err := a.layout.span(size)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return v.nothingAt(t, a, g, what)
	}
	off, err := v.offset(t, a.disp, lo, hi)
	if err != nil {
		return nil, err
	}
	if g == gateLazy {
		if kept, err := w.e.keep(v, t, a, off); kept || err != nil {
			return nil, err
		}
		if err := w.lockNow(t, a.kind.call()); err != nil {
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
		return w.e.submit(v, t, a, off, what, (*Engine).postpone)
	}
	inOrder := v.inOrder()
	if inOrder {
		fence()
		if v.onlyFrames(t) {
			return w.e.transmit(v, t, a, off, what)
		}
	}
	switch t.path {
	case pathMapped:
		if err := a.apply(&t.region, int64(off)); err != nil {
			return nil, err
		}
		return v.made(t, a, what)
	case pathDynamic:
		made, err := v.applyDynamic(t, a, off, lo, hi)
		if err != nil {
			return nil, err
		}
		if made || !inOrder && v.copy(t, a, off) {
			return v.made(t, a, what)
		}
	case pathKernel:
		if !inOrder && w.e.copy(t, a, off) {
			return v.made(t, a, what)
		}
	}
	return w.e.transmit(v, t, a, off, what)
}
