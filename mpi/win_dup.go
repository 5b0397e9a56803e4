package mpi

// Dup makes a duplicate of the window: another handle to the same memory, with hints of its
// own. It is for parts of a program, and goroutines, that want to access the memory
// in different ways at once: in order, with flushes of their own, with accumulates that are
// atomic operations of the processor. It has the hints of w, and those that are given in their
// place; hints about what is common, as NoLocks, stay what they are.
//
// Nothing else is separate. What synchronises w synchronises the duplicate, and the other
// way round: a Put through the duplicate may follow a Lock of w, another Lock through the
// duplicate is ErrRMASync, and a Flush of either covers the operations of both, unless it is
// through a window of thread scope. Accumulates are atomic with each other through all
// duplicates with the same AccumulateIntrinsic; the order that hints promise is
// between operations through the same one.
//
// Attributes are copied as their keys say, the error handler is inherited, the name is not.
// If a copy callback fails there is no duplicate.
//
// It is local. Free of a duplicate is, too, whether the window that it was made of is there
// or has been freed: the memory is given back when all members have freed that, and all
// duplicates.
//
// C: MPIX_Win_dup and MPIX_Win_dup_with_info, extensions.
func (w Win[T]) Dup(hints ...WinHint) (Win[T], error) {
	d, err := w.dup(callDup, hints)
	return Win[T]{d}, err
}

// Dup makes a duplicate of the window: see Win.Dup.
//
// C: MPIX_Win_dup and MPIX_Win_dup_with_info, extensions.
func (u Untyped) Dup(hints ...WinHint) (Untyped, error) {
	d, err := u.dup(callDup, hints)
	return Untyped{d}, err
}

func (w *Window) dup(k call, hints []WinHint) (*Window, error) {
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
	d.setHints(v, hints)
	d.c = &Comm{w: w.w, core: w.c.core.Unnamed(), self: w.c.self, win: d}
	d.c.core.Name.Store(new(string))
	d.c.handler.Store(w.c.handler.Load())
	if err := w.attrs.copy(w, d, k, &d.attrs); err != nil {
		d.c.freed.Store(true)
		v.Free() // nothing was issued through it
		return nil, err.raised()
	}
	if l := d.c.self.left; l != nil {
		l.window(d)
	}
	return d, nil
}

// WinDup is MPIX_Win_dup, of a window whose elements C names in each call.
func (internals) WinDup(w *Window) (*Window, error) { return w.dup(callDup, nil) }

// WinDupWithInfo is MPIX_Win_dup_with_info.
func (internals) WinDupWithInfo(w *Window, info *Info) (*Window, error) {
	return w.dup(callDupWithInfo, []WinHint{info})
}
