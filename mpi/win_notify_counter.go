package mpi

import (
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
)

// NotifySetNum says that the program will use the window's counters from 0 to n-1 at this
// rank. It is local, n may grow, and nobody needs it: counters are there when somebody
// uses them. But the first notification of each of some 64 that come from a rank of the node is
// slower without it, and here it is ErrNoMem if there is no memory for them. A counter takes
// 64 bytes.
//
// C: MPIX_Win_notify_set_num, an extension.
func (w *Window) NotifySetNum(n int) error {
	if err := w.usable(callNotifySetNum); err != nil {
		return err
	}
	return w.done(w.v.MakeCounters(n), callNotifySetNum, Undefined)
}

// NotifyGet returns the value of a counter at this rank: the number of notifications, less
// what requests have taken off. Who finds them there sees the data of the operations. It
// makes no progress: to wait, use a request.
//
// C: MPIX_Win_notify_get_value, an extension.
func (w *Window) NotifyGet(counter int) (int64, error) {
	if err := w.usable(callNotifyGet); err != nil {
		return 0, err
	}
	n, err := w.v.CounterValue(counter)
	return n, w.done(err, callNotifyGet, Undefined)
}

// NotifySet sets the value of a counter at this rank. Notifications that come at the same
// time may be lost in it, so it is for a time when there can be none.
//
// C: MPIX_Win_notify_set_value, an extension.
func (w *Window) NotifySet(counter int, value int64) error {
	if err := w.usable(callNotifySet); err != nil {
		return err
	}
	return w.done(w.v.SetCounter(counter, value), callNotifySet, Undefined)
}

// WaitNotify waits until n notifications of a counter at this rank have come, and takes these
// off the counter: see IwaitNotify.
//
// C: MPIX_Win_wait_notify, an extension.
func (w *Window) WaitNotify(counter, n int) error {
	q := w.await(callWaitNotify, counter, int64(n), int64(n), false)
	_, err := q.Wait()
	return err
}

// IwaitNotify starts a request that is complete when n notifications of a counter at this
// rank have come, and takes these off the counter. It can be tested and waited for with
// requests of any other kind. Of several for one counter the one that was started first is
// served first; what has come before counts. Each call that completes the request sees
// the data of all operations whose notifications it has taken.
//
// A number of no counter is ErrArg, n < 0 ErrCount, when the request is waited for. If all
// other ranks of the window die, it is ErrProcFailed. Cancel gives it up, and takes
// nothing.
//
// C: MPIX_Win_wait_notify, an extension.
func (w *Window) IwaitNotify(counter, n int) Request {
	return w.await(callIwaitNotify, counter, int64(n), int64(n), false)
}

// NotifyInit is IwaitNotify as a persistent request, which waits for the next n notifications
// each time it is started.
//
// C: MPIX_Win_notify_init, an extension.
func (w *Window) NotifyInit(counter, n int) Request {
	return w.await(callNotifyInit, counter, int64(n), int64(n), true)
}

// NotifyReach starts a request that is complete when a counter at this rank is value or
// more, and leaves it as it is: for counters that only grow, and for several that wait for
// the same. Else it is as IwaitNotify.
//
// C: MPIX_Win_notify_reach, an extension.
func (w *Window) NotifyReach(counter int, value int64) Request {
	return w.await(callNotifyReach, counter, value, 0, false)
}

func (w *Window) await(k call, counter int, reach, take int64, persistent bool) Request {
	if err := w.usable(k); err != nil {
		return Request{err: err}
	}
	var r *p2p.Request
	var err error
	x := rma.Threshold{Call: k.String(), Counter: counter, Reach: reach, Take: take}
	switch {
	case take < 0:
		err = wrong(ErrCount, "number of notifications is %d, which is negative", take)
	case persistent:
		r, err = w.v.AwaitInit(x)
	default:
		r, err = w.v.Await(x)
	}
	return w.started(r, err, k, Undefined)
}
