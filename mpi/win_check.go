package mpi

import (
	"errors"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
)

// In checking mode calls on windows take the ways of this file: before an operation
// begins, and before and after a synchronisation, the engine compares what the processes
// do (package rma, check.go). An error says where in the program the calls are that do not
// go together; what is refused is not carried out.

// here is the call of the program that is being carried out.
func here(k call) rma.Call { return located(k.String()) }

// checks reports whether accesses of the window are checked.
func (w *Window) checks() bool { return w.v.Checks() }

// fits returns an error in checking mode if a message of n elements of type from is not
// what count elements of type to are.
func (w *Window) fits(from *dtype.Type, n int64, to *dtype.Type, count int64, what string) error {
	if !w.checks() || from == nil || to == nil || n < 0 || count < 0 {
		return nil
	}
	var err *class.Error
	if !errors.As(from.Signature(n).Check(to, count), &err) || err.Class != class.Type {
		return nil // of a length the call itself has more to say
	}
	return wrong(ErrType, "%s: %s are not %s", what, from.Describe(n), to.Describe(count))
}

// fitsOrigin is fits for an operation that sends a Buffer to count elements of t.
func (w *Window) fitsOrigin(b *Buffer, t *dtype.Type, count int64) error {
	if b.err != nil {
		return nil
	}
	return w.fits(b.b.Type(), b.b.Count(), t, count, "origin and target")
}

// fitsResult is fits for an operation that fetches count elements of t into a Buffer.
func (w *Window) fitsResult(b *Buffer, t *dtype.Type, count int64) error {
	if b.err != nil {
		return nil
	}
	return w.fits(t, count, b.b.Type(), b.b.Count(), "target and result")
}

// intent is what an operation is about to do.
func (a *access) intent(k call, compare []byte, disp int64) rma.Intent {
	x := rma.Intent{Call: here(k), Origin: a.origin, Result: a.result, Compare: compare, Disp: disp, Layout: a.layout}
	switch k {
	case callPut, callRput, callPutNotify, callRputNotify:
		x.Deed = rma.DeedPut
	case callGet, callRget, callGetNotify, callRgetNotify:
		x.Deed = rma.DeedGet
	default:
		x.Deed, x.Op, x.Type = rma.DeedAccumulate, a.op, a.typ
		if k == callCompareAndSwap || k == callCompareAndSwapNotify {
			x.Op = 0
		}
	}
	x.Notifies = k >= callPutNotify && k <= callRgetAccumulateNotify
	x.Request = k >= callRput && k <= callRgetAccumulate || k >= callRputNotify && k <= callRgetAccumulateNotify
	return x
}

// checked carries out an operation in checking mode: it has the request of those that
// give one.
func (w *Window) checked(k call, a *access, compare []byte, target int, disp int64) (r *p2p.Request, err error) {
	x := a.intent(k, compare, disp)
	p, err := w.v.Check(&x, target)
	if err != nil {
		return nil, err
	}
	into := a.result
	a.result = w.v.Aside(p, into)
	switch k {
	case callPut:
		err = w.v.Put(a.origin, target, disp, a.layout)
	case callGet:
		err = w.v.Get(a.result, target, disp, a.layout)
	case callAccumulate:
		err = w.v.Accumulate(a.origin, target, disp, a.layout, a.op, a.typ)
	case callGetAccumulate:
		err = w.v.GetAccumulate(a.origin, a.result, target, disp, a.layout, a.op, a.typ)
	case callFetchAndOp:
		err = w.v.FetchAndOp(a.origin.Bytes, a.result.Bytes, target, disp, a.op, a.typ)
	case callCompareAndSwap:
		err = w.v.CompareAndSwap(a.origin.Bytes, compare, a.result.Bytes, target, disp, a.typ)
	case callRput:
		r, err = w.v.Rput(a.origin, target, disp, a.layout)
	case callRget:
		r, err = w.v.Rget(a.result, target, disp, a.layout)
	case callRaccumulate:
		r, err = w.v.Raccumulate(a.origin, target, disp, a.layout, a.op, a.typ)
	case callRgetAccumulate:
		r, err = w.v.RgetAccumulate(a.origin, a.result, target, disp, a.layout, a.op, a.typ)
	}
	a.result = into
	w.v.Issued(p, r, err)
	return r, err
}

// checkedIssue carries out an operation by issue, in checking mode.
func (w *Window) checkedIssue(k call, a *access, compare []byte, target int, disp int64, issue func(*access) (*p2p.Request, error)) (*p2p.Request, error) {
	x := a.intent(k, compare, disp)
	p, err := w.v.Check(&x, target)
	if err != nil {
		return nil, err
	}
	into := a.result
	a.result = w.v.Aside(p, into)
	r, err := issue(a)
	a.result = into
	w.v.Issued(p, r, err)
	return r, err
}

// checkWaited says, under the engine's lock, that the program has waited for the request of
// an operation, and returns the error that it is to be told.
func (q *Request) checkWaited(err *Error) *Error {
	if q.c.win == nil || !q.c.win.checks() {
		return err
	}
	if failed := q.c.win.v.Waited(q.r, located("the wait")); failed != nil && err == nil {
		err = describe(failed, q.call(), q.c, Undefined, Undefined)
	}
	return err
}

// checkLooked says, under the engine's lock, that the program knows that the request is complete,
// if it is one of an operation.
func (q *Request) checkLooked() {
	if q.call().oneSided() && q.c.win != nil && q.c.win.checks() {
		q.c.win.v.Looked(q.r)
	}
}

// checkedSync carries out a call that synchronises in checking mode.
func (w *Window) checkedSync(k call, target int, carryOut func() error) error {
	c := here(k)
	switch k {
	case callFence, callComplete, callUnlock, callUnlockAll, callFlush, callFlushAll, callFlushLocal, callFlushLocalAll:
		if target == Undefined {
			target = rma.AllTargets
		}
		return w.v.End(c, target).Ended(carryOut())
	}
	err := carryOut()
	if err != nil {
		return err
	}
	switch k {
	case callStart:
		w.v.Opened(c, "Complete", rma.AllTargets)
	case callPost:
		w.v.Opened(c, "Wait", rma.AllTargets)
	case callWinWait:
		return w.v.Exposed(c)
	case callLock:
		w.v.Opened(c, "Unlock", target)
	case callLockAll:
		w.v.Opened(c, "UnlockAll", rma.AllTargets)
	}
	return nil
}

// checkReleased says in checking mode that operations on a target, or rma.AllTargets, are
// about to be completed by a call that is none of checkedSync: nothing is said of them any
// more.
func (w *Window) checkReleased(target int) {
	if w.v.ChecksSync() {
		w.v.Released(target)
	}
}

// checkApart says in checking mode that operations of this process that follow have an
// order with those before.
func (w *Window) checkApart() {
	if w.v.ChecksSync() {
		w.v.Apart()
	}
}
