package mpi

import (
	"errors"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// In checking mode calls on windows take the ways of this file: before an operation
// begins, and before and after a synchronisation, the engine compares what the processes
// do (package rma/check). An error says where in the program the calls are that do not
// go together; what is refused is not carried out.

// here is the call of the program that is being carried out.
func here(k call) check.Call { return located(k.String()) }

// checks reports whether accesses of the window are checked.
func (w *Window) checks() bool { return w.v.Checks() }

// fits returns an error in checking mode if a message is not what it is read from or written to,
// as far as the call itself does not say so.
func (x *operands) fits(v verb, origin, result *Buffer) error {
	switch v {
	case verbPut, verbAccumulate:
		return fits(origin.b.Type(), origin.b.Count(), x.typ, x.count, "origin and target")
	case verbGet:
		return fits(x.typ, x.count, result.b.Type(), result.b.Count(), "target and result")
	}
	return nil
}

// fits returns an error if a message of n elements of type from is not what count elements of type
// to are.
func fits(from *dtype.Type, n int64, to *dtype.Type, count int64, what string) error {
	if from == nil || to == nil || n < 0 || count < 0 {
		return nil
	}
	var err *class.Error
	if !errors.As(from.Signature(n).Check(to, count), &err) || err.Class != class.Type {
		return nil // of a length the call itself has more to say
	}
	return wrong(ErrType, "%s: %s are not %s", what, from.Describe(n), to.Describe(count))
}

// checkWaited says, under the engine's lock, that the program has waited for the request of
// an operation, and returns the error that it is to be told.
func (q *Request) checkWaited(err *Error) *Error {
	if q.c.win == nil || !q.c.win.checks() {
		return err
	}
	if failed := q.c.win.v.Checker().Waited(q.r, located("the wait")); failed != nil && err == nil {
		err = describe(failed, q.call(), q.c, Undefined, Undefined)
	}
	return err
}

// checkLooked says, under the engine's lock, that the program knows that the request is complete,
// if it is one of an operation.
func (q *Request) checkLooked() {
	if q.call().oneSided() && q.c.win != nil && q.c.win.checks() {
		q.c.win.v.Checker().Looked(q.r)
	}
}

// checkedSync carries out a call that synchronises in checking mode.
func (w *Window) checkedSync(k call, target int, carryOut func() error) error {
	c := here(k)
	switch k {
	case callFence, callComplete, callUnlock, callUnlockAll, callFlush, callFlushAll, callFlushLocal, callFlushLocalAll:
		if target == Undefined {
			target = check.AllTargets
		}
		return w.v.End(c, target).Ended(carryOut())
	}
	err := carryOut()
	if err != nil {
		return err
	}
	switch k {
	case callStart:
		w.v.Checker().Opened(c, "Complete", check.AllTargets)
	case callPost:
		w.v.Checker().Opened(c, "Wait", check.AllTargets)
	case callWinWait:
		return w.v.Checker().Exposed(c)
	case callLock:
		w.v.Checker().Opened(c, "Unlock", target)
	case callLockAll:
		w.v.Checker().Opened(c, "UnlockAll", check.AllTargets)
	}
	return nil
}

// checkReleased says in checking mode that operations on a target, or check.AllTargets, are
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
		w.v.Checker().Apart()
	}
}
