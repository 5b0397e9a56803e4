package rma

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
)

// # Views in order
//
// Operations of a view with Options.InOrder to one target are complete there in the order in which
// they were issued, whatever their kinds and wherever the memory is: puts, gets and accumulates. No
// call waits for that:
//
//   - Mapped memory: the caller carries out operations one after the other. Each needs a full fence
//     before it; where the processor keeps stores in order (amd64), only operations that load need one.
//     No copy here uses non-temporal stores without a fence behind them.
//   - Frames: those of a channel are sent and received in order, and applied when they arrive. The
//     exception is long gets, which the target answers in pieces while it serves others. In order they
//     are cut like puts, and each piece is answered at once, from a copy.
//   - The kernel's copies would overtake frames, and are not used. Where some memory of a target is
//     mapped and some is not (dynamic windows), all operations go by frames once one has.
//
// Rejected: a flush before each operation that takes another path than the one before. It would
// cost a round trip where order is free.

// storesInOrder says that the processor makes stores visible to others in program order, and not
// before earlier loads.
const storesInOrder = runtime.GOARCH == "amd64"

// inOrder reports whether operations of the view complete in the order of their calls.
func (v *View) inOrder() bool { return v.rec.How.Load()&howInOrder != 0 }

// ordered orders an operation on mapped memory behind those before it, if the view is in order;
// loads says that the operation begins with a load of what others store.
func (v *View) ordered(loads bool) {
	if (loads || !storesInOrder) && v.rec.How.Load()&howInOrder != 0 {
		fence()
	}
}

// onlyFrames reports whether operations of v to t, which the caller could carry out itself, must go
// by frames, to stay behind operations that went by frames. Operations on mapped memory never go by
// frames, only notifications do.
func (v *View) onlyFrames(t *target) bool {
	return v.rec.How.Load()&howInOrder != 0 && t.behindFrames()
}

// behindFrames is onlyFrames for operations that are in order.
func (t *target) behindFrames() bool {
	return t.path != pathMapped && t.rec.Framed.Load() && t.Rank != t.w.Comm.Rank
}

// Order makes operations to a target that were issued before it complete there before those that
// are issued after it (MPIX_WIN_ORDER): those of this view if it has thread scope, else all. It is
// legal where a flush is.
//
// Where the caller applies all operations it costs a fence. Where the target is reached by frames
// only, these keep their order: it costs nothing, unless gets are under way, for which it waits.
// Otherwise, or if several channels are in use, it is a flush.
func (v *View) Order(target int) error {
	if err := v.handle.takes(target); err != nil {
		return err
	}
	t, err := v.w.passive(target, call.WinOrder)
	if err != nil || t == nil {
		return err
	}
	err = v.order(t, call.WinOrder)
	fence()
	return err
}

// OrderAll is Order of all targets.
func (v *View) OrderAll() error {
	if v.handle != nil {
		return v.Order(v.handle.rank)
	}
	w := v.w
	if err := w.passiveAllNow(call.WinOrderAll); err != nil {
		return err
	}
	var first error
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil {
			first = firstOf(first, v.order(t, call.WinOrderAll))
		}
	}
	fence()
	return first
}

func (v *View) order(t *target, by call.Number) error {
	if t.settled() || planted.OrderSkipped {
		return nil
	}
	e := v.w.e
	e.p.Lock()
	split, local := t.Barrier(v.number)
	asks := split || t.path != pathFrames
	e.p.Unlock()
	if !asks && !local {
		return nil
	}
	return v.settle(t, !asks, by)
}
