package mpi

import "github.com/halo-mpi/halo/internal/call"

// Order makes sure that operations to a rank that were issued before it are complete there
// before those that are issued after it. Unlike Flush it does not wait if the path to the rank
// keeps the order anyway. It covers the operations of the process; on a window of scope
// ScopeThread, those that were issued on it. To order all operations, use the hint WinOrder
// instead. It is allowed where Flush is; else it is ErrRMASync.
//
// It costs a fence of the processor if the memory is mapped, and nothing if all operations use
// messages and no Get is pending. Otherwise it is a Flush.
//
// C: MPIX_Win_order, an extension.
func (w *Window) Order(target int) error {
	if err := w.usable(call.WinOrder); err != nil {
		return err
	}
	w.checkApart()
	return w.done(w.v.Order(target), call.WinOrder, target)
}

// OrderAll is Order for all ranks.
//
// C: MPIX_Win_order_all, an extension.
func (w *Window) OrderAll() error {
	if err := w.usable(call.WinOrderAll); err != nil {
		return err
	}
	w.checkApart()
	return w.done(w.v.OrderAll(), call.WinOrderAll, Undefined)
}
