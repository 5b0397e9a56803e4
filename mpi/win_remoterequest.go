package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// The requests of Rput and the like are complete when the program may reuse the origin memory.
// The requests of the calls in this file are complete when the target has the data, too. They
// say the same as a Flush, but of one operation, and without waiting for those of other
// goroutines.

// Rrput is Put with a request that is complete when the data is at the target and the program
// may reuse the Buffer; no flush is needed. The program can wait for it together with requests
// of any other kind. It requires an epoch of Lock or LockAll; else it is ErrRMASync. Errors are
// returned when the program waits for the request.
//
// C: MPIX_Rrput, an extension.
func (u Untyped) Rrput(origin Buffer, target int, disp int64, count int, d Datatype) Request {
	return u.start(call.Rrput, &operands{place: elementsAt(target, disp, count, d)}, &origin, nil, nil)
}

// Rraccumulate is Accumulate with a request that is complete when the elements at the target are
// updated: see Rrput.
//
// C: MPIX_Rraccumulate, an extension.
func (u Untyped) Rraccumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	return u.start(call.Rraccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, nil)
}

// RrgetAccumulate is GetAccumulate with a request that is complete when result contains the
// previous values and the elements at the target are updated: see Rrput.
//
// C: MPIX_Rrget_accumulate, an extension.
func (u Untyped) RrgetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	return u.start(call.RrgetAccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, &result)
}

// RfetchAndOp is FetchAndOp with a request that is complete when result contains the previous
// value and the element at the target is updated: see Rrput.
//
// C: MPIX_Rfetch_and_op, an extension.
func (u Untyped) RfetchAndOp(value, result Buffer, target int, disp int64, op Op) Request {
	return u.start(call.RfetchAndOp, &operands{place: place{target: target, disp: disp}, op: op}, &value, nil, &result)
}

// RcompareAndSwap is CompareAndSwap with a request that is complete when result contains the
// previous value and the element at the target is updated: see Rrput.
//
// C: MPIX_Rcompare_and_swap, an extension.
func (u Untyped) RcompareAndSwap(value, compare, result Buffer, target int, disp int64) Request {
	return u.start(call.RcompareAndSwap, &operands{place: place{target: target, disp: disp}}, &value, &compare, &result)
}

// Rflush is Flush with a request that is complete when Flush would return: when the operations
// to a rank that were issued before it are complete there. On a window of scope ScopeThread only
// operations of this window or duplicate count. Operations that are issued after it do not
// count. If Flush would be ErrRMASync, waiting for the request returns that error.
//
// C: MPIX_Rflush, an extension.
func (w *Window) Rflush(target int) Request {
	if err := w.usable(call.Rflush); err != nil {
		return Request{err: err}
	}
	w.checkReleased(target)
	r, err := w.v.Rflush(target)
	return w.started(r, err, call.Rflush, target)
}

// RflushAll is Rflush for all ranks.
//
// C: MPIX_Rflush_all, an extension.
func (w *Window) RflushAll() Request {
	if err := w.usable(call.RflushAll); err != nil {
		return Request{err: err}
	}
	w.checkReleased(check.AllTargets)
	r, err := w.v.RflushAll()
	return w.started(r, err, call.RflushAll, Undefined)
}

// Rrput is Put with a request for the completion at the target: see Untyped.Rrput.
//
// C: MPIX_Rrput, an extension.
func (w Win[T]) Rrput(origin []T, target, disp int) Request {
	return startSlices(w.Window, call.Rrput, origin, nil, target, disp, Op{}, 0)
}

// Rraccumulate is Accumulate with a request for the completion at the target: see
// Untyped.Rraccumulate.
//
// C: MPIX_Rraccumulate, an extension.
func (w Win[T]) Rraccumulate(origin []T, target, disp int, o Op) Request {
	return startSlices(w.Window, call.Rraccumulate, origin, nil, target, disp, o, 0)
}

// RrgetAccumulate is GetAccumulate with a request for the completion at the target: see
// Untyped.RrgetAccumulate.
//
// C: MPIX_Rrget_accumulate, an extension.
func (w Win[T]) RrgetAccumulate(origin, result []T, target, disp int, o Op) Request {
	return startSlices(w.Window, call.RrgetAccumulate, origin, result, target, disp, o, 0)
}

// RfetchAndOp is FetchAndOp with a request: see Untyped.RfetchAndOp. With NoOp value may be nil.
//
// C: MPIX_Rfetch_and_op, an extension.
func (w Win[T]) RfetchAndOp(value, result *T, target, disp int, o Op) Request {
	v, r := one(value), one(result)
	return w.start(call.RfetchAndOp, &operands{place: sliceAt[T](target, disp, 1), op: o}, &v, nil, &r)
}

// RcompareAndSwap is CompareAndSwap with a request: see Untyped.RcompareAndSwap.
//
// C: MPIX_Rcompare_and_swap, an extension.
func (w Win[T]) RcompareAndSwap(value, compare, result *T, target, disp int) Request {
	return w.Untyped().RcompareAndSwap(one(value), one(compare), one(result), target, int64(disp))
}
