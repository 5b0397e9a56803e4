package mpi

// Order has the operations to a rank that were issued before it be complete there before
// those that are issued after it, without waiting as Flush does where the way to the rank
// keeps the order anyway. It covers the operations of the process; through a window of
// thread scope those that were issued through it. To have all in order give the
// hint WinOrder instead. It is legal where Flush is, else it is ErrRMASync.
//
// It costs a fence of the processor where the memory is mapped, and nothing where all goes
// by messages and no Get is under way. Else it is a Flush.
//
// C: MPIX_Win_order, an extension.
func (w *Window) Order(target int) error {
	if err := w.usable(callOrder); err != nil {
		return err
	}
	w.checkApart()
	return w.done(w.v.Order(target), callOrder, target)
}

// OrderAll is Order of all ranks.
//
// C: MPIX_Win_order_all, an extension.
func (w *Window) OrderAll() error {
	if err := w.usable(callOrderAll); err != nil {
		return err
	}
	w.checkApart()
	return w.done(w.v.OrderAll(), callOrderAll, Undefined)
}
