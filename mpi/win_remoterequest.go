package mpi

import "github.com/halo-mpi/halo/internal/rma/check"

// The requests of Rput and its like are complete when the memory at the origin may be used
// again. Those of the calls here say that the target has the data, too: what a Flush says,
// but of this operation alone, and without waiting for those of other goroutines.

// Rrput is Put with a request that is complete when the data is at the target and the Buffer
// may be used again; nobody needs to flush. It can be waited for with requests of any other
// kind. Only in epochs of Lock and LockAll, else it is ErrRMASync; what is wrong shows when
// the request is waited for.
//
// C: MPIX_Rrput, an extension.
func (u Untyped) Rrput(origin Buffer, target int, disp int64, count int, d Datatype) Request {
	return u.start(callRrput, &operands{place: elementsAt(target, disp, count, d)}, &origin, nil, nil)
}

// Rraccumulate is Accumulate with a request that is complete when the elements at the target
// are what they become: see Rrput.
//
// C: MPIX_Rraccumulate, an extension.
func (u Untyped) Rraccumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	return u.start(callRraccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, nil)
}

// RrgetAccumulate is GetAccumulate with a request that is complete when what was fetched is
// there, and the elements at the target are what they become: see Rrput.
//
// C: MPIX_Rrget_accumulate, an extension.
func (u Untyped) RrgetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	return u.start(callRrgetAccumulate, &operands{place: elementsAt(target, disp, count, d), op: op}, &origin, nil, &result)
}

// RfetchAndOp is FetchAndOp with a request that is complete when what was fetched is there,
// and the element at the target is what it becomes: see Rrput.
//
// C: MPIX_Rfetch_and_op, an extension.
func (u Untyped) RfetchAndOp(value, result Buffer, target int, disp int64, op Op) Request {
	return u.start(callRfetchAndOp, &operands{place: place{target: target, disp: disp}, op: op}, &value, nil, &result)
}

// RcompareAndSwap is CompareAndSwap with a request that is complete when what was fetched is
// there, and the element at the target is what it becomes: see Rrput.
//
// C: MPIX_Rcompare_and_swap, an extension.
func (u Untyped) RcompareAndSwap(value, compare, result Buffer, target int, disp int64) Request {
	return u.start(callRcompareAndSwap, &operands{place: place{target: target, disp: disp}}, &value, &compare, &result)
}

// Rflush is Flush with a request, which is complete when Flush would return: when the
// operations to a rank that were issued before it are complete there, those of this window
// or duplicate only if it has thread scope. What is issued after it does not count. Where
// Flush is ErrRMASync the request is.
//
// C: MPIX_Rflush, an extension.
func (w *Window) Rflush(target int) Request {
	if err := w.usable(callRflush); err != nil {
		return Request{err: err}
	}
	w.checkReleased(target)
	r, err := w.v.Rflush(target)
	return w.started(r, err, callRflush, target)
}

// RflushAll is Rflush for all ranks.
//
// C: MPIX_Rflush_all, an extension.
func (w *Window) RflushAll() Request {
	if err := w.usable(callRflushAll); err != nil {
		return Request{err: err}
	}
	w.checkReleased(check.AllTargets)
	r, err := w.v.RflushAll()
	return w.started(r, err, callRflushAll, Undefined)
}

// Rrput is Put with a request that tells of the target: see Window.Rrput.
//
// C: MPIX_Rrput, an extension.
func (w Win[T]) Rrput(origin []T, target, disp int) Request {
	return startSlices(w.Window, callRrput, origin, nil, target, disp, Op{}, 0)
}

// Rraccumulate is Accumulate with a request that tells of the target: see
// Window.Rraccumulate.
//
// C: MPIX_Rraccumulate, an extension.
func (w Win[T]) Rraccumulate(origin []T, target, disp int, o Op) Request {
	return startSlices(w.Window, callRraccumulate, origin, nil, target, disp, o, 0)
}

// RrgetAccumulate is GetAccumulate with a request that tells of the target: see
// Window.RrgetAccumulate.
//
// C: MPIX_Rrget_accumulate, an extension.
func (w Win[T]) RrgetAccumulate(origin, result []T, target, disp int, o Op) Request {
	return startSlices(w.Window, callRrgetAccumulate, origin, result, target, disp, o, 0)
}

// RfetchAndOp is FetchAndOp with a request: see Window.RfetchAndOp. With NoOp value may be
// nil.
//
// C: MPIX_Rfetch_and_op, an extension.
func (w Win[T]) RfetchAndOp(value, result *T, target, disp int, o Op) Request {
	v, r := one(value), one(result)
	return w.start(callRfetchAndOp, &operands{place: sliceAt[T](target, disp, 1), op: o}, &v, nil, &r)
}

// RcompareAndSwap is CompareAndSwap with a request: see Window.RcompareAndSwap.
//
// C: MPIX_Rcompare_and_swap, an extension.
func (w Win[T]) RcompareAndSwap(value, compare, result *T, target, disp int) Request {
	return w.Untyped().RcompareAndSwap(one(value), one(compare), one(result), target, int64(disp))
}
