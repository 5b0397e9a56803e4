package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/rma"
)

// The calls for notified access are Put, Get, Accumulate and the like with one more argument: a
// counter of the target, a number from 0 to NotifyMax-1. When the operation is complete at the
// target, in an epoch of any kind, the counter is increased by 1. A target that has waited for
// that (WaitNotify) sees the data with plain loads, without any other synchronisation. An
// operation that fails does not notify. An operation without data is only a notification. With
// ProcNull nothing happens. Notifications are not ordered with respect to other operations,
// including previous ones of the same call, unless the window is ordered: a notification says
// only that its own operation is complete.
//
// Counters need not be created, but see NotifySetNum. ErrArg for a counter outside of the range.
// Other errors, and when the program may reuse the origin memory, are as without Notify.

// NotifyMax is the number of counters that a window has at each rank. Synchronisation objects
// (AllocSyncObjects) have separate counters.
//
// C: MPIX_WIN_NOTIFY_MAX, an extension.
const NotifyMax = rma.NotifyMax

// PutNotify is Put that notifies the target when the data is in its memory.
//
// C: MPIX_Put_notify, an extension.
func (u Untyped) PutNotify(origin Buffer, target int, disp int64, count int, d Datatype, counter int) error {
	return u.issue(call.PutNotify, &operands{place: elementsAt(target, disp, count, d), counter: counter}, &origin, nil, nil)
}

// GetNotify is Get that notifies the target when its memory has been read.
//
// C: MPIX_Get_notify, an extension.
func (u Untyped) GetNotify(result Buffer, target int, disp int64, count int, d Datatype, counter int) error {
	return u.issue(call.GetNotify, &operands{place: elementsAt(target, disp, count, d), counter: counter}, nil, nil, &result)
}

// AccumulateNotify is Accumulate that notifies the target when all elements are updated.
//
// C: MPIX_Accumulate_notify, an extension.
func (u Untyped) AccumulateNotify(origin Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) error {
	return u.issue(call.AccumulateNotify, &operands{place: elementsAt(target, disp, count, d), op: op, counter: counter}, &origin, nil, nil)
}

// GetAccumulateNotify is GetAccumulate that notifies the target when all elements are updated.
//
// C: MPIX_Get_accumulate_notify, an extension.
func (u Untyped) GetAccumulateNotify(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) error {
	return u.issue(call.GetAccumulateNotify, &operands{place: elementsAt(target, disp, count, d), op: op, counter: counter}, &origin, nil, &result)
}

// FetchAndOpNotify is FetchAndOp that notifies the target.
//
// C: MPIX_Fetch_and_op_notify, an extension.
func (u Untyped) FetchAndOpNotify(value, result Buffer, target int, disp int64, op Op, counter int) error {
	return u.issue(call.FetchAndOpNotify, &operands{place: place{target: target, disp: disp}, op: op, counter: counter}, &value, nil, &result)
}

// CompareAndSwapNotify is CompareAndSwap that notifies the target, whether the element is
// replaced or not.
//
// C: MPIX_Compare_and_swap_notify, an extension.
func (u Untyped) CompareAndSwapNotify(value, compare, result Buffer, target int, disp int64, counter int) error {
	return u.issue(call.CompareAndSwapNotify, &operands{place: place{target: target, disp: disp}, counter: counter}, &value, &compare, &result)
}

// RputNotify is PutNotify with a request that is complete when the program may reuse the Buffer:
// see Rput.
//
// C: MPIX_Rput_notify, an extension.
func (u Untyped) RputNotify(origin Buffer, target int, disp int64, count int, d Datatype, counter int) Request {
	return u.start(call.RputNotify, &operands{place: elementsAt(target, disp, count, d), counter: counter}, &origin, nil, nil)
}

// RgetNotify is GetNotify with a request that is complete when the Buffer contains the data: see
// Rget.
//
// C: MPIX_Rget_notify, an extension.
func (u Untyped) RgetNotify(result Buffer, target int, disp int64, count int, d Datatype, counter int) Request {
	return u.start(call.RgetNotify, &operands{place: elementsAt(target, disp, count, d), counter: counter}, nil, nil, &result)
}

// RaccumulateNotify is AccumulateNotify with a request: see Raccumulate.
//
// C: MPIX_Raccumulate_notify, an extension.
func (u Untyped) RaccumulateNotify(origin Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) Request {
	return u.start(call.RaccumulateNotify, &operands{place: elementsAt(target, disp, count, d), op: op, counter: counter}, &origin, nil, nil)
}

// RgetAccumulateNotify is GetAccumulateNotify with a request: see RgetAccumulate.
//
// C: MPIX_Rget_accumulate_notify, an extension.
func (u Untyped) RgetAccumulateNotify(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op, counter int) Request {
	return u.start(call.RgetAccumulateNotify, &operands{place: elementsAt(target, disp, count, d), op: op, counter: counter}, &origin, nil, &result)
}
