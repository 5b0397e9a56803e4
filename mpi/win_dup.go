package mpi

import "github.com/halo-mpi/halo/internal/call"

// Dup makes a duplicate of the window: another window over the same memory, with its own hints.
// It is for parts of a program, and goroutines, that need to access the memory in different ways
// at the same time: in order, with separate flushes, or with accumulates that are atomic
// operations of the processor. The given hints replace those of w; hints about properties that
// all duplicates share, such as NoLocks, do not change.
//
// Everything else is shared. A synchronisation of w applies to the duplicate and vice versa: a
// Put on the duplicate may follow a Lock of w; another Lock on the duplicate is ErrRMASync; and
// a Flush of either covers the operations of both, unless its scope is ScopeThread. Accumulates
// are atomic with each other on all duplicates with the same AccumulateIntrinsic. The order that
// hints guarantee holds only between operations on the same duplicate.
//
// Dup copies the attributes as their keys say. The duplicate inherits the error handler, but not
// the name. If a copy callback fails, no duplicate is made.
//
// Dup is local, and so is Free of a duplicate, whether the original window still exists or not.
// The memory is freed when all members have freed the window and all its duplicates.
//
// C: MPIX_Win_dup and MPIX_Win_dup_with_info, extensions.
func (w Win[T]) Dup(hints ...WinHint) (Win[T], error) {
	d, err := w.dup(call.WinDup, hints)
	return Win[T]{d}, err
}

// Dup makes a duplicate of the window: see Win.Dup.
//
// C: MPIX_Win_dup and MPIX_Win_dup_with_info, extensions.
func (u Untyped) Dup(hints ...WinHint) (Untyped, error) {
	d, err := u.dup(call.WinDup, hints)
	return Untyped{d}, err
}

func (w *Window) dup(k call.Number, hints []WinHint) (*Window, error) {
	if err := w.usable(k); err != nil {
		return nil, err
	}
	checkKeys(w.c, k, hints...)
	v, err := w.v.Dup()
	if err != nil {
		return nil, w.failed(err, k, Undefined)
	}
	d := &Window{v: v, w: w.w, align: w.align}
	d.noncontig.Store(w.noncontig.Load())
	d.asserted.Store(w.asserted.Load())
	d.c = &Comm{w: w.w, core: w.c.core.Unnamed(), self: w.c.self, win: d}
	d.setHints(v, hints)
	d.c.core.Name.Store(new(string))
	d.c.handler.Store(w.c.handler.Load())
	if err := w.attrs.copy(w, d, k, &d.attrs); err != nil {
		d.c.freed.Store(true)
		v.Free() // no operation was issued on it
		return nil, err.raised()
	}
	d.enter()
	return d, nil
}

// WinDup is MPIX_Win_dup: the C call names the elements in each operation.
func (internals) WinDup(w *Window) (*Window, error) { return w.dup(call.WinDup, nil) }

// WinDupWithInfo is MPIX_Win_dup_with_info.
func (internals) WinDupWithInfo(w *Window, info *Info) (*Window, error) {
	return w.dup(call.WinDupWithInfo, []WinHint{info})
}
