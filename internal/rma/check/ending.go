package check

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
)

// AllTargets replaces the rank of a target in calls for all targets or without one.
const AllTargets = -1

// Ending is a synchronisation call, from before it is made until after.
type Ending struct {
	w     *Window
	call  Call
	rank  int // rank of the target, or AllTargets
	epoch Epoch
	local bool   // the call completes operations at the origin only
	gen   uint64 // the call completes operations of this generation and earlier ones
	found error  // an error that the checker has found
}

// End is called before a call that completes operations, such as Fence, Complete, Unlock, UnlockAll
// or Flush; rank is AllTargets for calls without a target. The caller then makes the call, and calls
// Ended. No lock is held.
func (w *Window) End(by Call, rank int) *Ending {
	x := &Ending{w: w, call: by, rank: rank, epoch: Lock}
	switch by.Number {
	case call.WinFence:
		x.epoch = Fence
	case call.WinComplete:
		x.epoch = Start
	case call.WinFlushLocal, call.WinFlushLocalAll:
		x.local = true
	}
	w.lock.Lock()
	for p := range w.pending {
		if x.ends(p) {
			x.found = first(x.found, w.unchanged(p, by))
			if x.epoch != Start {
				x.found = first(x.found, w.deliverChecked(p, by))
			}
		}
	}
	x.gen = w.gen
	w.gen++
	early := w.early
	if x.epoch == Start {
		w.early = nil
	}
	w.lock.Unlock()
	switch {
	case x.epoch == Start:
		for _, p := range early {
			x.checkEarly(p)
		}
	case by.Number == call.WinUnlock || by.Number == call.WinUnlockAll:
		x.tell(Put) // before others can get the lock
	}
	return x
}

// checkEarly checks an operation that was issued before its target had posted. It waits for the post,
// as Complete does.
func (x *Ending) checkEarly(p *Pending) {
	w := x.w
	if w.host.AwaitPost(p.target, x.call.Number) != nil {
		return
	}
	w.lock.Lock()
	w.touched[p.target] = p.entry.gen
	w.lock.Unlock()
	x.found = first(x.found, w.ask(askAccess, p))
}

// ends reports whether the call ends p.
func (x *Ending) ends(p *Pending) bool {
	return p.entry.epoch == x.epoch && (x.rank == AllTargets || x.rank == p.target)
}

// tell has the targets remove the operations that are complete from their logs: only the gets if kind
// is Get, otherwise all.
func (x *Ending) tell(kind Kind) {
	w := x.w
	var targets []int
	w.lock.Lock()
	for t := range w.touched {
		if x.rank == AllTargets || x.rank == t {
			targets = append(targets, t)
			w.dropLogged(t, x.gen)
		}
	}
	w.lock.Unlock()
	for _, t := range targets {
		w.tellComplete(t, x.epoch, x.gen, kind)
	}
	if kind == Get {
		return
	}
	w.lock.Lock()
	for _, t := range targets { // only now: a concurrent flush must tell the targets too
		if gen, ok := w.touched[t]; ok && gen <= x.gen {
			delete(w.touched, t)
		}
	}
	w.lock.Unlock()
}

// Ended is called after the call, which has returned err. It returns the error for the program.
func (x *Ending) Ended(err error) error {
	w := x.w
	switch classOf(err) {
	case class.RMASync, class.Assert, class.Win, class.Rank:
		return err // the call has completed no operation
	}
	if x.epoch == Fence {
		x.found = first(x.found, w.changed(Fence, x.call))
		w.host.Barrier()
	}
	w.lock.Lock()
	for p := range w.pending {
		if x.ends(p) && p.entry.gen <= x.gen {
			x.found = first(x.found, w.deliverChecked(p, x.call))
			w.origin.remove(p)
		}
	}
	delete(w.opened, opening{x.call.Number, x.rank})
	if x.epoch != Lock {
		w.snapshotPuts = 0
	}
	if x.epoch == Start { // the target's log drops the operations when its Wait returns
		for t := range w.touched {
			w.dropLogged(t, x.gen)
		}
	}
	if x.epoch == Fence {
		w.fences++
		w.fenced(w.fences)
		clear(w.origin.logged)
		for t, gen := range w.touched {
			if gen <= x.gen {
				delete(w.touched, t)
			}
		}
	}
	lost := w.lost
	w.lock.Unlock()
	switch {
	case lost || w.host.Live() != nil:
	case x.local:
		x.tell(Get)
	case x.epoch == Lock:
		x.tell(Put)
	}
	return first(err, x.found)
}

// Exposed is called after a Wait or Test that has ended an exposure epoch of this process: all
// accesses of the epoch are complete. It returns the error for the program. No lock is held.
func (w *Window) Exposed(by Call) error {
	found := w.changed(Start, by)
	w.lock.Lock()
	delete(w.opened, opening{call.WinWait, AllTargets})
	w.log.drop(func(c *entry) bool { return c.epoch == Start })
	w.lock.Unlock()
	return found
}

// Opened notes that a call has begun an epoch, which a call end ends. rank is AllTargets if the
// epoch has no single target. It takes the lock.
func (w *Window) Opened(by Call, end call.Number, rank int) {
	w.lock.Lock()
	w.opened[opening{end, rank}] = by
	w.lock.Unlock()
}

// Apart notes an ordering point: operations of this process before the call are complete at their
// targets before those after it. It takes the lock.
func (w *Window) Apart() {
	w.lock.Lock()
	w.segment++
	w.lock.Unlock()
}

// Release is called, in place of End, before a call that completes operations on the target rank, or
// on all targets if rank is AllTargets: the checker no longer compares these operations. No lock is
// held.
func (w *Window) Release(rank int) {
	x := &Ending{w: w, rank: rank, epoch: Lock}
	w.lock.Lock()
	x.gen = w.gen
	w.gen++
	for p := range w.pending {
		if x.ends(p) {
			w.origin.remove(p)
		}
	}
	w.lock.Unlock()
	x.tell(Put)
}

// Signals notes that from now on synchronisation objects tell the target rank when operations of this
// process are complete. The checker does not learn of that, so it no longer compares operations on this
// target. No lock is held.
func (w *Window) Signals(rank int) {
	w.lock.Lock()
	w.signalled[w.host.Comm().Members[rank]] = true
	w.lock.Unlock()
	w.tellUnchecked(rank)
	w.Release(rank)
}

// Open returns err. If err is about open epochs, Open adds their names and the places where they
// began. It takes the lock.
func (w *Window) Open(err error) error {
	if classOf(err) != class.RMASync {
		return err
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	return class.Errorf(class.RMASync, "%v%s", err, w.begun())
}

// OpenAtEnd is Open for a window that has not been freed when the program ends; name is its name.
func (w *Window) OpenAtEnd(name string, err error) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	return class.Errorf(class.RMASync, "window%s made at %s: %v%s", name, w.Where(&w.made), err, w.begun())
}

// begun describes where the open epochs began.
func (w *Window) begun() string {
	keys := make([]opening, 0, len(w.opened))
	for k := range w.opened {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b opening) int {
		return cmp.Or(strings.Compare(a.end.Go(), b.end.Go()), cmp.Compare(a.rank, b.rank))
	})
	text := ""
	for _, k := range keys {
		by, between := w.opened[k], " at "
		if k.rank >= 0 {
			between = " of rank " + strconv.Itoa(k.rank) + between
		}
		text += ", " + w.Called(&by, between)
	}
	return text
}

// classOf returns the class of an error.
func classOf(err error) class.Class {
	var e *class.Error
	switch {
	case err == nil:
		return class.Success
	case errors.As(err, &e):
		return e.Class
	}
	return class.Other
}
