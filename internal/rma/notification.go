package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// Notified access. When an operation is complete at the target, a counter there is incremented. A
// thread that reads the new value sees the data that were put and accumulated, and may change the
// data that were read. An operation of no bytes is the notification alone. An operation that fails
// notifies nobody.

// signalOf is an operation that has only the notification of o, with the request of o.
func signalOf(o *operation.Op) *operation.Op {
	return &operation.Op{Kind: link.Signal, Notify: o.Notify, Done: o.Done, Call: o.Call}
}

// made notifies the target of an access that the caller has carried out, and returns its request.
func (v *View) made(t *target, a *operation.Op) (*p2p.Request, error) {
	if a.Notify == 0 || t.count(int(a.Notify-1), false) {
		return v.done(a), nil
	}
	return v.w.e.submit(v, t, signalOf(a), 0, (*Engine).dispatch)
}

// nothingAt is an access to no bytes of t, in an epoch in which its gate is g: only the
// notification is left.
func (v *View) nothingAt(t *target, a *operation.Op, g gate) (*p2p.Request, error) {
	if a.Notify == 0 || g&gateOpen != 0 {
		return v.made(t, a)
	}
	return v.w.e.submit(v, t, signalOf(a), 0, (*Engine).postpone)
}

// performed ends an operation that was deferred and has been carried out. The lock is held.
func (e *Engine) performed(t *target, o *link.Operation, err error) {
	if err == nil && o.Notify != 0 && !t.count(int(o.Notify-1), true) {
		o.Op = operation.Op{Kind: link.Signal, Notify: o.Notify}
		e.dispatch(t, o)
		return
	}
	e.link.End(o, err)
}

// Signal adds 1 to a counter of a target, when everything is complete at the target that this
// process has started there through v, and through views that share its channel: put and
// accumulated, and read. It needs no epoch, and does not wait.
//
// Cost where the target is mapped and nothing is under way: one atomic operation, and a system call
// if the target sleeps for it. Else a frame, behind everything that was sent before.
func (v *View) Signal(target, counter int) error {
	t, err := v.signalled(target, counter)
	if t == nil || err != nil {
		return err
	}
	if _, err := v.w.lazyNow(t, call.Signal); err != nil {
		return err
	}
	if t.settled() && t.rec.Gate.Load() != gateWaiting && t.count(counter, false) {
		return nil
	}
	_, err = v.w.e.submit(v, t, &operation.Op{Kind: link.Signal, Notify: operation.Notice(counter)}, 0, (*Engine).postpone)
	return err
}

// signalled is the target of a signal, nil for ProcNull.
func (v *View) signalled(rank, counter int) (*target, error) {
	if err := v.w.live(); err != nil {
		return nil, err
	}
	if err := counterExists(counter); err != nil || rank == ProcNull {
		return nil, err
	}
	return v.w.target(rank)
}

// signal makes a notification alone, behind everything of its channel. The lock is held.
func (e *Engine) signal(t *target, o *link.Operation) {
	if t.control != nil && (!t.rec.Framed.Load() || o.Alone() || planted.SignalPassed) && t.count(int(o.Notify-1), true) {
		e.link.End(o, nil)
		return
	}
	e.dispatch(t, o)
}
