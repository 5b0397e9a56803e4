package rma

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
)

// Notified access. Each call is the one without Notify, and when the operation is complete
// at the target, the target's counter goes up by 1: who has found it there sees what was put
// and accumulated, and may change what was read. An operation of no bytes is the notification
// alone. What fails notifies nobody.
//
// Cost on mapped memory: beside the operation one atomic one, in a line of the target; and a
// system call if the target sleeps until just that.

// PutNotify is Put with a notification (MPIX_PUT_NOTIFY).
func (v *View) PutNotify(origin Data, target int, disp int64, l Layout, counter int) error {
	if origin.Layout == nil && l.Type == nil && uint(counter) < NotifyMax {
		if r, at := v.mapped(target, disp, len(origin.Bytes)); r != nil {
			t := v.w.targets[target].Load()
			if c := t.counters.known(counter); c != nil {
				v.ordered(false)
				if !planted.NoticeFirst {
					move(r.Mem[at:], origin.Bytes)
				}
				if _, reached := c.Add(1); reached {
					t.counterReached(false)
				}
				if planted.NoticeFirst {
					runtime.Gosched()
					move(r.Mem[at:], origin.Bytes)
				}
				return nil
			}
		}
	}
	return v.notify(&access{kind: kindPut, origin: origin, disp: disp, layout: l}, target, counter)
}

// GetNotify is Get with a notification, once the data have been read (MPIX_GET_NOTIFY).
func (v *View) GetNotify(result Data, target int, disp int64, l Layout, counter int) error {
	return v.notify(&access{kind: kindGet, result: result, disp: disp, layout: l}, target, counter)
}

// AccumulateNotify is Accumulate with a notification (MPIX_ACCUMULATE_NOTIFY).
func (v *View) AccumulateNotify(origin Data, target int, disp int64, l Layout, o op.Op, t op.Type, counter int) error {
	return v.notify(&access{kind: kindAccumulate, op: o, typ: t, origin: origin, disp: disp, layout: l}, target, counter)
}

// GetAccumulateNotify is GetAccumulate with a notification (MPIX_GET_ACCUMULATE_NOTIFY).
func (v *View) GetAccumulateNotify(origin, result Data, target int, disp int64, l Layout, o op.Op, t op.Type, counter int) error {
	return v.notify(&access{kind: kindAccumulate, op: o, typ: t, origin: origin, result: result, disp: disp, layout: l}, target, counter)
}

// FetchAndOpNotify is FetchAndOp with a notification (MPIX_FETCH_AND_OP_NOTIFY).
func (v *View) FetchAndOpNotify(value, result []byte, target int, disp int64, o op.Op, t op.Type, counter int) error {
	a := access{kind: kindAccumulate, op: o, typ: t, origin: Data{Bytes: value}, result: Data{Bytes: result}, disp: disp}
	return v.notify(&a, target, counter)
}

// CompareAndSwapNotify is CompareAndSwap with a notification, whether it has swapped or not
// (MPIX_COMPARE_AND_SWAP_NOTIFY).
func (v *View) CompareAndSwapNotify(value, compare, result []byte, target int, disp int64, t op.Type, counter int) error {
	a := access{kind: kindCompare, typ: t, origin: Data{Bytes: value}, compare: compare, result: Data{Bytes: result}, disp: disp}
	return v.notify(&a, target, counter)
}

// RputNotify is PutNotify with a request, which is complete when origin may be used again
// (MPIX_RPUT_NOTIFY).
func (v *View) RputNotify(origin Data, target int, disp int64, l Layout, counter int) (*p2p.Request, error) {
	return v.rnotify(&access{kind: kindPut, origin: origin, disp: disp, layout: l}, target, "RputNotify", counter)
}

// RgetNotify is GetNotify with a request, which is complete when result is there
// (MPIX_RGET_NOTIFY).
func (v *View) RgetNotify(result Data, target int, disp int64, l Layout, counter int) (*p2p.Request, error) {
	return v.rnotify(&access{kind: kindGet, result: result, disp: disp, layout: l}, target, "RgetNotify", counter)
}

// RaccumulateNotify is AccumulateNotify with a request (MPIX_RACCUMULATE_NOTIFY).
func (v *View) RaccumulateNotify(origin Data, target int, disp int64, l Layout, o op.Op, t op.Type, counter int) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, op: o, typ: t, origin: origin, disp: disp, layout: l}
	return v.rnotify(&a, target, "RaccumulateNotify", counter)
}

// RgetAccumulateNotify is GetAccumulateNotify with a request
// (MPIX_RGET_ACCUMULATE_NOTIFY).
func (v *View) RgetAccumulateNotify(origin, result Data, target int, disp int64, l Layout, o op.Op, t op.Type, counter int) (*p2p.Request, error) {
	a := access{kind: kindAccumulate, op: o, typ: t, origin: origin, result: result, disp: disp, layout: l}
	return v.rnotify(&a, target, "RgetAccumulateNotify", counter)
}

// notify carries out an access with a notification.
func (v *View) notify(a *access, target, counter int) error {
	_, err := v.rnotify(a, target, "", counter)
	return err
}

func (v *View) rnotify(a *access, target int, what string, counter int) (*p2p.Request, error) {
	if err := counterExists(counter); err != nil {
		return nil, err
	}
	a.notice = noticeOf(counter)
	return v.carryOut(a, target, what)
}
