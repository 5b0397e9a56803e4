package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma"
)

// The requests of Rput and its like are complete when the memory at the origin may be used
// again. Those of the calls here say that the target has the data, too: what a Flush says,
// but of this operation alone, and without waiting for those of other goroutines.

// request is the request of an operation whose operands fill finds, and which start begins.
func (w *Window) request(k call, target int, err error, fill func(a *access) error, start func(a *access) (*p2p.Request, error)) Request {
	if err := w.usable(k); err != nil {
		return Request{err: err}
	}
	a := newAccess()
	defer a.release()
	if err == nil {
		err = fill(a)
	}
	var r *p2p.Request
	if err == nil {
		r, err = start(a)
	}
	return w.started(r, err, k, target)
}

// Rrput is Put with a request that is complete when the data is at the target and the Buffer
// may be used again; nobody needs to flush. It can be waited for with requests of any other
// kind. Only in epochs of Lock and LockAll, else it is ErrRMASync; what is wrong shows when
// the request is waited for.
//
// C: MPIX_Rrput, an extension.
func (w *Window) Rrput(origin Buffer, target int, disp int64, count int, d Datatype) Request {
	t, err := d.engine()
	return w.rrput(&origin, target, disp, int64(count), t, err)
}

func (w *Window) rrput(origin *Buffer, target int, disp, count int64, t *dtype.Type, err error) Request {
	return w.request(callRrput, target, err, func(a *access) error { return a.put(origin, count, t) }, func(a *access) (*p2p.Request, error) {
		return w.v.Rrput(a.origin, target, disp, a.layout)
	})
}

// Rraccumulate is Accumulate with a request that is complete when the elements at the target
// are what they become: see Rrput.
//
// C: MPIX_Rraccumulate, an extension.
func (w *Window) Rraccumulate(origin Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	t, err := d.engine()
	return w.rraccumulate(&origin, target, disp, int64(count), t, op, err)
}

func (w *Window) rraccumulate(origin *Buffer, target int, disp, count int64, t *dtype.Type, o Op, err error) Request {
	return w.request(callRraccumulate, target, err, func(a *access) error { return a.accumulate(origin, nil, count, t, o) }, func(a *access) (*p2p.Request, error) {
		return w.v.Rraccumulate(a.origin, target, disp, a.layout, a.op, a.typ)
	})
}

// RrgetAccumulate is GetAccumulate with a request that is complete when what was fetched is
// there, and the elements at the target are what they become: see Rrput.
//
// C: MPIX_Rrget_accumulate, an extension.
func (w *Window) RrgetAccumulate(origin, result Buffer, target int, disp int64, count int, d Datatype, op Op) Request {
	t, err := d.engine()
	return w.rrgetAccumulate(&origin, &result, target, disp, int64(count), t, op, err)
}

func (w *Window) rrgetAccumulate(origin, result *Buffer, target int, disp, count int64, t *dtype.Type, o Op, err error) Request {
	return w.request(callRrgetAccumulate, target, err, func(a *access) error { return a.accumulate(origin, result, count, t, o) }, func(a *access) (*p2p.Request, error) {
		return w.v.RrgetAccumulate(a.origin, a.result, target, disp, a.layout, a.op, a.typ)
	})
}

// RfetchAndOp is FetchAndOp with a request that is complete when what was fetched is there,
// and the element at the target is what it becomes: see Rrput.
//
// C: MPIX_Rfetch_and_op, an extension.
func (w *Window) RfetchAndOp(value, result Buffer, target int, disp int64, op Op) Request {
	return w.request(callRfetchAndOp, target, nil, func(a *access) error { return a.fetch(&value, &result, op) }, func(a *access) (*p2p.Request, error) {
		return w.v.RfetchAndOp(a.origin.Bytes, a.result.Bytes, target, disp, a.op, a.typ)
	})
}

// RcompareAndSwap is CompareAndSwap with a request that is complete when what was fetched is
// there, and the element at the target is what it becomes: see Rrput.
//
// C: MPIX_Rcompare_and_swap, an extension.
func (w *Window) RcompareAndSwap(value, compare, result Buffer, target int, disp int64) Request {
	var operand []byte
	return w.request(callRcompareAndSwap, target, nil, func(a *access) (err error) {
		operand, err = a.compare(&value, &compare, &result)
		return err
	}, func(a *access) (*p2p.Request, error) {
		return w.v.RcompareAndSwap(a.origin.Bytes, operand, a.result.Bytes, target, disp, a.typ)
	})
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
	w.checkReleased(rma.AllTargets)
	r, err := w.v.RflushAll()
	return w.started(r, err, callRflushAll, Undefined)
}

// Rrput is Put with a request that tells of the target: see Window.Rrput.
//
// C: MPIX_Rrput, an extension.
func (w Win[T]) Rrput(origin []T, target, disp int) Request {
	t, err := golang[T]()
	b := Buf(origin)
	return w.rrput(&b, target, int64(disp), int64(len(origin)), t, err)
}

// Rraccumulate is Accumulate with a request that tells of the target: see
// Window.Rraccumulate.
//
// C: MPIX_Rraccumulate, an extension.
func (w Win[T]) Rraccumulate(origin []T, target, disp int, o Op) Request {
	t, err := golang[T]()
	b := Buf(origin)
	return w.rraccumulate(&b, target, int64(disp), int64(len(origin)), t, o, err)
}

// RrgetAccumulate is GetAccumulate with a request that tells of the target: see
// Window.RrgetAccumulate.
//
// C: MPIX_Rrget_accumulate, an extension.
func (w Win[T]) RrgetAccumulate(origin, result []T, target, disp int, o Op) Request {
	t, err := golang[T]()
	b, r := Buf(origin), Buf(result)
	return w.rrgetAccumulate(&b, &r, target, int64(disp), int64(max(len(origin), len(result))), t, o, err)
}

// RfetchAndOp is FetchAndOp with a request: see Window.RfetchAndOp. With NoOp value may be
// nil.
//
// C: MPIX_Rfetch_and_op, an extension.
func (w Win[T]) RfetchAndOp(value, result *T, target, disp int, o Op) Request {
	v, r := one(value), one(result)
	return w.Window.RfetchAndOp(v, r, target, int64(disp), o)
}

// RcompareAndSwap is CompareAndSwap with a request: see Window.RcompareAndSwap.
//
// C: MPIX_Rcompare_and_swap, an extension.
func (w Win[T]) RcompareAndSwap(value, compare, result *T, target, disp int) Request {
	return w.Window.RcompareAndSwap(one(value), one(compare), one(result), target, int64(disp))
}
