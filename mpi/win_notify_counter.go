package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
)

// NotifySetNum tells Halo that the program will use the window's counters from 0 to n-1 at this
// rank. It is local, and n may grow. It is optional, since counters are created when they are
// first used. Without it the first notification from a rank of the node is slower, for each
// group of some 64 counters. ErrNoMem if there is no memory for the counters; a counter takes 64
// bytes.
//
// C: MPIX_Win_notify_set_num, an extension.
func (w *Window) NotifySetNum(n int) error {
	if err := w.usable(call.WinNotifySetNum); err != nil {
		return err
	}
	return w.done(w.v.MakeCounters(n), call.WinNotifySetNum, Undefined)
}

// NotifyGet returns the value of a counter at this rank: the number of notifications, minus
// those that requests have consumed. A process that sees a notification in the value also sees
// the data of its operation. NotifyGet makes no progress; use a request to wait.
//
// C: MPIX_Win_notify_get_value, an extension.
func (w *Window) NotifyGet(counter int) (int64, error) {
	if err := w.usable(call.WinNotifyGetValue); err != nil {
		return 0, err
	}
	n, err := w.v.CounterValue(counter)
	return n, w.done(err, call.WinNotifyGetValue, Undefined)
}

// NotifySet sets the value of a counter at this rank. Notifications that arrive at the same time
// may be lost, so that the program must make sure that there are none.
//
// C: MPIX_Win_notify_set_value, an extension.
func (w *Window) NotifySet(counter int, value int64) error {
	if err := w.usable(call.WinNotifySetValue); err != nil {
		return err
	}
	return w.done(w.v.SetCounter(counter, value), call.WinNotifySetValue, Undefined)
}

// WaitNotify waits until a counter at this rank has received n notifications, and subtracts
// these from the counter: see IwaitNotify.
//
// C: MPIX_Win_wait_notify, an extension.
func (w *Window) WaitNotify(counter, n int) error {
	q := w.await(call.WinWaitNotify, counter, int64(n), int64(n), false)
	_, err := q.Wait()
	return err
}

// IwaitNotify starts a request that is complete when a counter at this rank has received n
// notifications, and subtracts these from the counter. The program can test and wait for it
// together with requests of any other kind. Requests for one counter are served in the order in
// which they were started; notifications that arrived before count, too. The call that completes
// the request sees the data of all operations whose notifications the request has consumed.
//
// Errors, returned when the program waits for the request: ErrArg for an invalid counter;
// ErrCount if n is negative; ErrProcFailed if all other ranks of the window have died. Cancel
// cancels the request, which then consumes no notifications.
//
// C: MPIX_Win_wait_notify, an extension.
func (w *Window) IwaitNotify(counter, n int) Request {
	return w.await(call.IwaitNotify, counter, int64(n), int64(n), false)
}

// NotifyInit is IwaitNotify as a persistent request, which waits for the next n notifications
// each time it is started.
//
// C: MPIX_Win_notify_init, an extension.
func (w *Window) NotifyInit(counter, n int) Request {
	return w.await(call.WinNotifyInit, counter, int64(n), int64(n), true)
}

// NotifyReach starts a request that is complete when the value of a counter at this rank is at
// least value, and does not change the counter. It is for counters that only grow, and for
// several requests that wait for the same value. Otherwise it is like IwaitNotify.
//
// C: MPIX_Win_notify_reach, an extension.
func (w *Window) NotifyReach(counter int, value int64) Request {
	return w.await(call.WinNotifyReach, counter, value, 0, false)
}

func (w *Window) await(k call.Number, counter int, reach, take int64, persistent bool) Request {
	if err := w.usable(k); err != nil {
		return Request{err: err}
	}
	var r *p2p.Request
	var err error
	x := rma.Threshold{Call: k, Counter: counter, Reach: reach, Take: take}
	switch {
	case take < 0:
		err = class.Errorf(class.Count, "number of notifications is %d, which is negative", take)
	case persistent:
		r, err = w.v.AwaitInit(x)
	default:
		r, err = w.v.Await(x)
	}
	return w.started(r, err, k, Undefined)
}

// awaits reports whether a call makes requests that wait for notification counters of the caller's own rank.
func awaits(k call.Number) bool {
	switch k {
	case call.WinWaitNotify, call.IwaitNotify, call.WinNotifyInit, call.WinNotifyReach:
		return true
	}
	return false
}
