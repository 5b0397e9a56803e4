package rma

import (
	"runtime"

	"github.com/halo-mpi/halo/internal/planted"
)

// # Views in order
//
// What is issued through a view with Options.InOrder to one target is complete there in that
// order, whatever it is and wherever: puts, gets and accumulates. Nothing waits for that:
//
//   - Memory that is mapped: operations are made by the caller, one after the other. It takes
//     a full fence before each, but where the processor keeps stores in order (amd64): there
//     only before those that load. No copy here uses stores past the caches without a fence
//     behind them.
//   - Frames: those of a channel are made and taken in order, and applied when they come. All
//     but long gets, which the target answers bit by bit while others are served: in order
//     they are cut like puts, and each piece is answered at once, from a copy.
//   - The kernel's copies would overtake frames, and are not used. Where some memory of a
//     target is mapped and some is not (dynamic windows), all go by frames once one has.
//
// Rejected: a flush before each operation that takes another way than the one before. It
// would be a way there and back where order costs nothing.

// storesInOrder says that what the processor stores others see in that order, and not before
// what it has loaded before.
const storesInOrder = runtime.GOARCH == "amd64"

// inOrder reports whether operations of the view are to be complete in their order.
func (v *View) inOrder() bool { return v.rec.How.Load()&howInOrder != 0 }

// ordered orders an operation on mapped memory behind those before it, if it has to; loads
// says that it begins with a load of what others store.
func (v *View) ordered(loads bool) {
	if (loads || !storesInOrder) && v.rec.How.Load()&howInOrder != 0 {
		fence()
	}
}

// onlyFrames reports whether operations of v to t, which others may make by themselves, have
// to go by frames, to stay behind those that have. To memory that is mapped none has: what
// goes there by frames is notifications.
func (v *View) onlyFrames(t *target) bool {
	return v.rec.How.Load()&howInOrder != 0 && t.path != pathMapped && t.rec.Framed.Load() && t.rank != t.w.Comm.Rank
}

// Order has the operations to a target that were issued before be complete there before
// those that are issued after it (MPIX_WIN_ORDER): of this view if it has thread scope, else
// of all. It is legal where a flush is.
//
// Where all is applied by the caller it costs a fence. Where the target is reached by frames
// only, these keep their order: it costs nothing, but with gets under way, which are waited
// for. Else, or if several channels are in use, it is a flush.
func (v *View) Order(target int) error {
	if err := v.handle.takes(target); err != nil {
		return err
	}
	t, err := v.w.passive(target, "Order")
	if err != nil || t == nil {
		return err
	}
	err = v.order(t, "Order")
	fence()
	return err
}

// OrderAll is Order of all targets.
func (v *View) OrderAll() error {
	if v.handle != nil {
		return v.Order(v.handle.rank)
	}
	w := v.w
	if err := w.passiveAllNow("OrderAll"); err != nil {
		return err
	}
	var first error
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil {
			first = firstOf(first, v.order(t, "OrderAll"))
		}
	}
	fence()
	return first
}

func (v *View) order(t *target, call string) error {
	if t.settled() || planted.OrderSkipped {
		return nil
	}
	e := v.w.e
	e.p.Lock()
	asks, local := t.path != pathFrames, false
	c := &t.main
	if v.number != 0 {
		c = t.numbered(v.number)
	} else if len(t.others) > 0 {
		asks = asks || !e.farIdle(t)
	}
	if c != nil {
		c.barrier = c.issued
		for o := c.oldest; o != nil && !local; o = o.next {
			local = o.streamed()
		}
	}
	e.p.Unlock()
	if !asks && !local {
		return nil
	}
	return v.settle(t, !asks, call)
}
