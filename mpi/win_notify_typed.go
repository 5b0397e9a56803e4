package mpi

import (
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
)

// PutNotify is Put that adds 1 to a counter of the target when the data is there: see
// Window.PutNotify.
//
// C: MPIX_Put_notify, an extension.
func (w Win[T]) PutNotify(origin []T, target, disp, counter int) error {
	if plain[T]() == 0 || w.odd() {
		t, err := golang[T]()
		b := Buf(origin)
		return w.putNotify(&b, target, int64(disp), int64(len(origin)), t, counter, err)
	}
	if err := w.v.PutNotify(rma.Data{Bytes: memory(origin)}, target, int64(disp), rma.Layout{}, counter); err != nil {
		return w.failed(err, callPutNotify, target)
	}
	return nil
}

// GetNotify is Get that adds 1 to a counter of the target when its memory has been read:
// see Window.GetNotify.
//
// C: MPIX_Get_notify, an extension.
func (w Win[T]) GetNotify(result []T, target, disp, counter int) error {
	if plain[T]() == 0 || w.odd() {
		t, err := golang[T]()
		b := Buf(result)
		return w.getNotify(&b, target, int64(disp), int64(len(result)), t, counter, err)
	}
	if err := w.v.GetNotify(rma.Data{Bytes: memory(result)}, target, int64(disp), rma.Layout{}, counter); err != nil {
		return w.failed(err, callGetNotify, target)
	}
	return nil
}

// AccumulateNotify is Accumulate that adds 1 to a counter of the target when all elements
// are combined: see Window.AccumulateNotify.
//
// C: MPIX_Accumulate_notify, an extension.
func (w Win[T]) AccumulateNotify(origin []T, target, disp int, o Op, counter int) error {
	typ := plain[T]()
	if o.kernel == op.NoOp || !o.accumulates(typ) || w.odd() {
		t, err := golang[T]()
		b := Buf(origin)
		return w.accumulateNotify(&b, target, int64(disp), int64(len(origin)), t, o, counter, err)
	}
	if err := w.v.AccumulateNotify(rma.Data{Bytes: memory(origin)}, target, int64(disp), rma.Layout{}, o.kernel.On(typ), typ, counter); err != nil {
		return w.failed(err, callAccumulateNotify, target)
	}
	return nil
}

// GetAccumulateNotify is GetAccumulate that adds 1 to a counter of the target: see
// Window.GetAccumulateNotify.
//
// C: MPIX_Get_accumulate_notify, an extension.
func (w Win[T]) GetAccumulateNotify(origin, result []T, target, disp int, o Op, counter int) error {
	t, err := golang[T]()
	b, r := Buf(origin), Buf(result)
	return w.getAccumulateNotify(&b, &r, target, int64(disp), int64(max(len(origin), len(result))), t, o, counter, err)
}

// FetchAndOpNotify is FetchAndOp that adds 1 to a counter of the target: see
// Window.FetchAndOpNotify.
//
// C: MPIX_Fetch_and_op_notify, an extension.
func (w Win[T]) FetchAndOpNotify(value, result *T, target, disp int, o Op, counter int) error {
	v := one(value)
	if o.kernel == op.NoOp && value == nil {
		v = one(result)
	}
	return w.Window.FetchAndOpNotify(v, one(result), target, int64(disp), o, counter)
}

// CompareAndSwapNotify is CompareAndSwap that adds 1 to a counter of the target: see
// Window.CompareAndSwapNotify.
//
// C: MPIX_Compare_and_swap_notify, an extension.
func (w Win[T]) CompareAndSwapNotify(value, compare, result *T, target, disp, counter int) error {
	return w.Window.CompareAndSwapNotify(one(value), one(compare), one(result), target, int64(disp), counter)
}

// RputNotify is PutNotify with a request: see Window.RputNotify.
//
// C: MPIX_Rput_notify, an extension.
func (w Win[T]) RputNotify(origin []T, target, disp, counter int) Request {
	t, err := golang[T]()
	b := Buf(origin)
	return w.rputNotify(&b, target, int64(disp), int64(len(origin)), t, counter, err)
}

// RgetNotify is GetNotify with a request: see Window.RgetNotify.
//
// C: MPIX_Rget_notify, an extension.
func (w Win[T]) RgetNotify(result []T, target, disp, counter int) Request {
	t, err := golang[T]()
	b := Buf(result)
	return w.rgetNotify(&b, target, int64(disp), int64(len(result)), t, counter, err)
}

// RaccumulateNotify is AccumulateNotify with a request: see Window.RaccumulateNotify.
//
// C: MPIX_Raccumulate_notify, an extension.
func (w Win[T]) RaccumulateNotify(origin []T, target, disp int, o Op, counter int) Request {
	t, err := golang[T]()
	b := Buf(origin)
	return w.raccumulateNotify(&b, target, int64(disp), int64(len(origin)), t, o, counter, err)
}

// RgetAccumulateNotify is GetAccumulateNotify with a request: see
// Window.RgetAccumulateNotify.
//
// C: MPIX_Rget_accumulate_notify, an extension.
func (w Win[T]) RgetAccumulateNotify(origin, result []T, target, disp int, o Op, counter int) Request {
	t, err := golang[T]()
	b, r := Buf(origin), Buf(result)
	return w.rgetAccumulateNotify(&b, &r, target, int64(disp), int64(max(len(origin), len(result))), t, o, counter, err)
}
