package mpi

import "github.com/halo-mpi/halo/internal/call"

// PutNotify is Put that adds 1 to a counter of the target when the data is in its memory: see
// Untyped.PutNotify.
//
// C: MPIX_Put_notify, an extension.
func (w Win[T]) PutNotify(origin []T, target, disp, counter int) error {
	if plain[T]() == 0 || w.slowPath() {
		return issueSlices(w.Window, call.PutNotify, origin, nil, target, disp, Op{}, counter)
	}
	if err := w.v.PutNotify(memory(origin), target, int64(disp), counter); err != nil {
		return w.failed(err, call.PutNotify, target)
	}
	return nil
}

// GetNotify is Get that adds 1 to a counter of the target when its memory has been read: see
// Untyped.GetNotify.
//
// C: MPIX_Get_notify, an extension.
func (w Win[T]) GetNotify(result []T, target, disp, counter int) error {
	return issueSlices(w.Window, call.GetNotify, nil, result, target, disp, Op{}, counter)
}

// AccumulateNotify is Accumulate that adds 1 to a counter of the target when all elements are
// updated: see Untyped.AccumulateNotify.
//
// C: MPIX_Accumulate_notify, an extension.
func (w Win[T]) AccumulateNotify(origin []T, target, disp int, o Op, counter int) error {
	return issueSlices(w.Window, call.AccumulateNotify, origin, nil, target, disp, o, counter)
}

// GetAccumulateNotify is GetAccumulate that adds 1 to a counter of the target: see
// Untyped.GetAccumulateNotify.
//
// C: MPIX_Get_accumulate_notify, an extension.
func (w Win[T]) GetAccumulateNotify(origin, result []T, target, disp int, o Op, counter int) error {
	return issueSlices(w.Window, call.GetAccumulateNotify, origin, result, target, disp, o, counter)
}

// FetchAndOpNotify is FetchAndOp that adds 1 to a counter of the target: see
// Untyped.FetchAndOpNotify.
//
// C: MPIX_Fetch_and_op_notify, an extension.
func (w Win[T]) FetchAndOpNotify(value, result *T, target, disp int, o Op, counter int) error {
	v, r := one(value), one(result)
	return w.issue(call.FetchAndOpNotify, &operands{place: sliceAt[T](target, disp, 1), op: o, counter: counter}, &v, nil, &r)
}

// CompareAndSwapNotify is CompareAndSwap that adds 1 to a counter of the target: see
// Untyped.CompareAndSwapNotify.
//
// C: MPIX_Compare_and_swap_notify, an extension.
func (w Win[T]) CompareAndSwapNotify(value, compare, result *T, target, disp, counter int) error {
	return w.Untyped().CompareAndSwapNotify(one(value), one(compare), one(result), target, int64(disp), counter)
}

// RputNotify is PutNotify with a request: see Untyped.RputNotify.
//
// C: MPIX_Rput_notify, an extension.
func (w Win[T]) RputNotify(origin []T, target, disp, counter int) Request {
	return startSlices(w.Window, call.RputNotify, origin, nil, target, disp, Op{}, counter)
}

// RgetNotify is GetNotify with a request: see Untyped.RgetNotify.
//
// C: MPIX_Rget_notify, an extension.
func (w Win[T]) RgetNotify(result []T, target, disp, counter int) Request {
	return startSlices(w.Window, call.RgetNotify, nil, result, target, disp, Op{}, counter)
}

// RaccumulateNotify is AccumulateNotify with a request: see Untyped.RaccumulateNotify.
//
// C: MPIX_Raccumulate_notify, an extension.
func (w Win[T]) RaccumulateNotify(origin []T, target, disp int, o Op, counter int) Request {
	return startSlices(w.Window, call.RaccumulateNotify, origin, nil, target, disp, o, counter)
}

// RgetAccumulateNotify is GetAccumulateNotify with a request: see Untyped.RgetAccumulateNotify.
//
// C: MPIX_Rget_accumulate_notify, an extension.
func (w Win[T]) RgetAccumulateNotify(origin, result []T, target, disp int, o Op, counter int) Request {
	return startSlices(w.Window, call.RgetAccumulateNotify, origin, result, target, disp, o, counter)
}
