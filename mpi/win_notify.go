package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
)

// Notified access is that of Put, Get, Accumulate and their like with one argument more, a
// counter of the target: a number from 0 to NotifyMax-1. When the operation is complete at
// the target, in whatever epoch, the counter goes up by 1, and the target, which may wait
// for that (WaitNotify), sees the data with plain loads, without any other
// synchronisation. An operation that fails notifies nobody; one of no data is the
// notification alone; with ProcNull nothing happens. Notifications keep no order with
// other operations, not even with those of the same call before, unless the window is
// ordered: each vouches for its own.
//
// Nobody needs to make counters, but see NotifySetNum. A number outside is ErrArg;
// else errors, and when the memory at the origin may be used again, are as without Notify.

// NotifyMax is how many counters a window has at each rank. Those of synchronisation
// objects (AllocSyncObjects) are others.
//
// C: MPIX_WIN_NOTIFY_MAX, an extension.
const NotifyMax = rma.NotifyMax

// PutNotify is Put that notifies the target when the data is there.
//
// C: MPIX_Put_notify, an extension.
func (w *Window) PutNotify(origin Buffer, target int, disp int64, count int, d Datatype, counter int) error {
	t, err := d.engine()
	return w.putNotify(&origin, target, disp, int64(count), t, counter, err)
}

func (w *Window) putNotify(origin *Buffer, target int, disp, count int64, t *dtype.Type, counter int, err error) error {
	if err := w.usable(callPutNotify); err != nil {
		return err
	}
	_, err = w.notified(callPutNotify, target, disp, err, nil, func(a *access) error { return a.put(origin, count, t) }, func(a *access) (*p2p.Request, error) {
		return nil, w.v.PutNotify(a.origin, target, disp, a.layout, counter)
	})
	return w.done(err, callPutNotify, target)
}

// GetNotify is Get that notifies the target when its memory has been read.
//
// C: MPIX_Get_notify, an extension.
func (w *Window) GetNotify(result Buffer, target int, disp int64, count int, d Datatype, counter int) error {
	t, err := d.engine()
	return w.getNotify(&result, target, disp, int64(count), t, counter, err)
}

func (w *Window) getNotify(result *Buffer, target int, disp, count int64, t *dtype.Type, counter int, err error) error {
	if err := w.usable(callGetNotify); err != nil {
		return err
	}
	_, err = w.notified(callGetNotify, target, disp, err, nil, func(a *access) error { return a.get(result, count, t) }, func(a *access) (*p2p.Request, error) {
		return nil, w.v.GetNotify(a.result, target, disp, a.layout, counter)
	})
	return w.done(err, callGetNotify, target)
}

// AccumulateNotify is Accumulate that notifies the target when all elements are combined.
//
// C: MPIX_Accumulate_notify, an extension.
func (w *Window) AccumulateNotify(origin Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) error {
	t, err := d.engine()
	return w.accumulateNotify(&origin, target, disp, int64(count), t, op, counter, err)
}

func (w *Window) accumulateNotify(origin *Buffer, target int, disp, count int64, t *dtype.Type, o Op, counter int, err error) error {
	if err := w.usable(callAccumulateNotify); err != nil {
		return err
	}
	_, err = w.notified(callAccumulateNotify, target, disp, err, nil, func(a *access) error { return a.accumulate(origin, nil, count, t, o) }, func(a *access) (*p2p.Request, error) {
		return nil, w.v.AccumulateNotify(a.origin, target, disp, a.layout, a.op, a.typ, counter)
	})
	return w.done(err, callAccumulateNotify, target)
}

// GetAccumulateNotify is GetAccumulate that notifies the target when all elements are
// combined.
//
// C: MPIX_Get_accumulate_notify, an extension.
func (w *Window) GetAccumulateNotify(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) error {
	t, err := d.engine()
	return w.getAccumulateNotify(&origin, &result, target, disp, int64(count), t, op, counter, err)
}

func (w *Window) getAccumulateNotify(origin, result *Buffer, target int, disp, count int64, t *dtype.Type, o Op, counter int, err error) error {
	if err := w.usable(callGetAccumulateNotify); err != nil {
		return err
	}
	_, err = w.notified(callGetAccumulateNotify, target, disp, err, nil, func(a *access) error { return a.accumulate(origin, result, count, t, o) }, func(a *access) (*p2p.Request, error) {
		return nil, w.v.GetAccumulateNotify(a.origin, a.result, target, disp, a.layout, a.op, a.typ, counter)
	})
	return w.done(err, callGetAccumulateNotify, target)
}

// FetchAndOpNotify is FetchAndOp that notifies the target.
//
// C: MPIX_Fetch_and_op_notify, an extension.
func (w *Window) FetchAndOpNotify(value, result Buffer, target int, disp int64, op Op, counter int) error {
	if err := w.usable(callFetchAndOpNotify); err != nil {
		return err
	}
	_, err := w.notified(callFetchAndOpNotify, target, disp, nil, nil, func(a *access) error { return a.fetch(&value, &result, op) }, func(a *access) (*p2p.Request, error) {
		return nil, w.v.FetchAndOpNotify(a.origin.Bytes, a.result.Bytes, target, disp, a.op, a.typ, counter)
	})
	return w.done(err, callFetchAndOpNotify, target)
}

// CompareAndSwapNotify is CompareAndSwap that notifies the target, whether the element is
// replaced or not.
//
// C: MPIX_Compare_and_swap_notify, an extension.
func (w *Window) CompareAndSwapNotify(value, compare, result Buffer, target int, disp int64, counter int) error {
	if err := w.usable(callCompareAndSwapNotify); err != nil {
		return err
	}
	var operand []byte
	_, err := w.notified(callCompareAndSwapNotify, target, disp, nil, &operand, func(a *access) (err error) {
		operand, err = a.compare(&value, &compare, &result)
		return err
	}, func(a *access) (*p2p.Request, error) {
		return nil, w.v.CompareAndSwapNotify(a.origin.Bytes, operand, a.result.Bytes, target, disp, a.typ, counter)
	})
	return w.done(err, callCompareAndSwapNotify, target)
}

// RputNotify is PutNotify with a request that is complete when the Buffer may be used
// again: see Rput.
//
// C: MPIX_Rput_notify, an extension.
func (w *Window) RputNotify(origin Buffer, target int, disp int64, count int, d Datatype, counter int) Request {
	t, err := d.engine()
	return w.rputNotify(&origin, target, disp, int64(count), t, counter, err)
}

func (w *Window) rputNotify(origin *Buffer, target int, disp, count int64, t *dtype.Type, counter int, err error) Request {
	if err := w.usable(callRputNotify); err != nil {
		return Request{err: err}
	}
	r, err := w.notified(callRputNotify, target, disp, err, nil, func(a *access) error { return a.put(origin, count, t) }, func(a *access) (*p2p.Request, error) {
		return w.v.RputNotify(a.origin, target, disp, a.layout, counter)
	})
	return w.started(r, err, callRputNotify, target)
}

// RgetNotify is GetNotify with a request that is complete when the data is there: see
// Rget.
//
// C: MPIX_Rget_notify, an extension.
func (w *Window) RgetNotify(result Buffer, target int, disp int64, count int, d Datatype, counter int) Request {
	t, err := d.engine()
	return w.rgetNotify(&result, target, disp, int64(count), t, counter, err)
}

func (w *Window) rgetNotify(result *Buffer, target int, disp, count int64, t *dtype.Type, counter int, err error) Request {
	if err := w.usable(callRgetNotify); err != nil {
		return Request{err: err}
	}
	r, err := w.notified(callRgetNotify, target, disp, err, nil, func(a *access) error { return a.get(result, count, t) }, func(a *access) (*p2p.Request, error) {
		return w.v.RgetNotify(a.result, target, disp, a.layout, counter)
	})
	return w.started(r, err, callRgetNotify, target)
}

// RaccumulateNotify is AccumulateNotify with a request: see Raccumulate.
//
// C: MPIX_Raccumulate_notify, an extension.
func (w *Window) RaccumulateNotify(origin Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) Request {
	t, err := d.engine()
	return w.raccumulateNotify(&origin, target, disp, int64(count), t, op, counter, err)
}

func (w *Window) raccumulateNotify(origin *Buffer, target int, disp, count int64, t *dtype.Type, o Op, counter int, err error) Request {
	if err := w.usable(callRaccumulateNotify); err != nil {
		return Request{err: err}
	}
	r, err := w.notified(callRaccumulateNotify, target, disp, err, nil, func(a *access) error { return a.accumulate(origin, nil, count, t, o) }, func(a *access) (*p2p.Request, error) {
		return w.v.RaccumulateNotify(a.origin, target, disp, a.layout, a.op, a.typ, counter)
	})
	return w.started(r, err, callRaccumulateNotify, target)
}

// RgetAccumulateNotify is GetAccumulateNotify with a request: see RgetAccumulate.
//
// C: MPIX_Rget_accumulate_notify, an extension.
func (w *Window) RgetAccumulateNotify(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) Request {
	t, err := d.engine()
	return w.rgetAccumulateNotify(&origin, &result, target, disp, int64(count), t, op, counter, err)
}

func (w *Window) rgetAccumulateNotify(origin, result *Buffer, target int, disp, count int64, t *dtype.Type, o Op, counter int, err error) Request {
	if err := w.usable(callRgetAccumulateNotify); err != nil {
		return Request{err: err}
	}
	r, err := w.notified(callRgetAccumulateNotify, target, disp, err, nil, func(a *access) error { return a.accumulate(origin, result, count, t, o) }, func(a *access) (*p2p.Request, error) {
		return w.v.RgetAccumulateNotify(a.origin, a.result, target, disp, a.layout, a.op, a.typ, counter)
	})
	return w.started(r, err, callRgetAccumulateNotify, target)
}

// notified has fill check the arguments of call k, unless err says what is wrong with them,
// and issue give them to the engine. compare is what is compared, once fill has been called, if
// there is such.
func (w *Window) notified(k call, target int, disp int64, err error, compare *[]byte,
	fill func(*access) error, issue func(*access) (*p2p.Request, error)) (*p2p.Request, error) {
	a := newAccess()
	defer a.release()
	if err == nil {
		err = fill(a)
	}
	if err != nil {
		return nil, err
	}
	if w.checks() {
		var operand []byte
		if compare != nil {
			operand = *compare
		}
		return w.checkedIssue(k, a, operand, target, disp, issue)
	}
	return issue(a)
}
