package mpi

import (
	"errors"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// In checking mode calls on windows go through this file. Before an operation begins, and before
// and after a synchronisation, the engine compares the accesses of the processes (package
// rma/check). An error says where in the program the conflicting calls are; a refused operation
// is not carried out.

// checks reports whether accesses of the window are checked.
func (w *Window) checks() bool { return w.v.Checks() }

// fits returns an error in checking mode if the basic types of a message differ between its
// source and its destination, unless the call itself reports that.
func (x *operands) fits(v verb, origin, result *Buffer) error {
	switch v {
	case verbPut, verbAccumulate:
		return fits(origin.b.Type(), origin.b.Count(), x.typ, x.count, "origin and target")
	case verbGet:
		return fits(x.typ, x.count, result.b.Type(), result.b.Count(), "target and result")
	}
	return nil
}

// fits returns an error if n elements of type from do not have the same basic types as count
// elements of type to.
func fits(from *dtype.Type, n int64, to *dtype.Type, count int64, what string) error {
	if from == nil || to == nil || n < 0 || count < 0 {
		return nil
	}
	var err *class.Error
	if !errors.As(from.Signature(n).Check(to, count), &err) || err.Class != class.Type {
		return nil // the call itself reports wrong lengths
	}
	return class.Errorf(class.Type, "%s: %s are not %s", what, from.Describe(n), to.Describe(count))
}

// checkWaited tells the checker, under the engine's lock, that the program has waited for the
// request of an operation, and returns the error that the program gets.
func (q *Request) checkWaited(err *Error) *Error {
	if q.c.win == nil || !q.c.win.checks() {
		return err
	}
	if failed := q.c.win.v.Checker().Waited(q.r, located(call.AnyWait)); failed != nil && err == nil {
		err = describe(failed, q.call(), q.c, Undefined, Undefined)
	}
	return err
}

// checkLooked tells the checker, under the engine's lock, that the program knows that the
// request is complete, if it is a request of an operation.
func (q *Request) checkLooked() {
	if q.call().Is(call.Window) && q.c.win != nil && q.c.win.checks() {
		q.c.win.v.Checker().Looked(q.r)
	}
}

// checkedSync makes a synchronisation call in checking mode.
func (w *Window) checkedSync(k call.Number, target int, carryOut func() error) error {
	c := located(k)
	switch k {
	case call.WinFence, call.WinComplete, call.WinUnlock, call.WinUnlockAll, call.WinFlush, call.WinFlushAll, call.WinFlushLocal, call.WinFlushLocalAll:
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
	case call.WinStart:
		w.v.Checker().Opened(c, call.WinComplete, check.AllTargets)
	case call.WinPost:
		w.v.Checker().Opened(c, call.WinWait, check.AllTargets)
	case call.WinWait:
		return w.v.Checker().Exposed(c)
	case call.WinLock:
		w.v.Checker().Opened(c, call.WinUnlock, target)
	case call.WinLockAll:
		w.v.Checker().Opened(c, call.WinUnlockAll, check.AllTargets)
	}
	return nil
}

// checkReleased tells the checker that operations on a target, or check.AllTargets, are about to
// be completed by a call that does not use checkedSync, so that the checker stops to track them.
func (w *Window) checkReleased(target int) {
	if w.v.ChecksSync() {
		w.v.Released(target)
	}
}

// checkApart tells the checker that the following operations of this process are ordered after
// its previous ones.
func (w *Window) checkApart() {
	if w.v.ChecksSync() {
		w.v.Checker().Apart()
	}
}
