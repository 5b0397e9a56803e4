package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// take locks t if it need not wait. It reports whether it is done: t is locked, or refused because
// the holder has died. If it is not done, it has claimed the lock of a target of the node. The
// engine's lock is not held.
func (w *Window) take(t *target, exclusive bool) (done bool, err error) {
	if w.e.dead(t.Process) {
		return true, w.e.goneNow(t)
	}
	if t.control == nil || !w.claim(t, exclusive) {
		return false, nil
	}
	return true, w.inherit(t)
}

// goneNow is gone of t. It takes the lock.
func (e *Engine) goneNow(t *target) error {
	e.p.Lock()
	defer e.p.Unlock()
	return link.Gone(t.Rank, e.p.DownCause(int(t.Process)))
}

// claim claims the lock of t, on this node, and reports whether it is held at once. The engine's
// lock is not held.
func (w *Window) claim(t *target, exclusive bool) bool {
	e, l, serve := w.e, t.control.Lock(), false
	l.Claim(e.me, exclusive, func(c int) { serve = w.ring(t, c) || serve })
	if serve {
		w.serveNow()
	}
	if l.Look(e.me, e.deadLocals) != shmfmt.LockFree {
		return false
	}
	l.Hold(e.me)
	return true
}

// ring wakes a claimant to the lock of t. It reports whether that is the service of this process,
// for which the caller must call serve.
func (w *Window) ring(t *target, claimant int) bool {
	e := w.e
	switch {
	case claimant != t.control.Lock().Service():
		if e.node != nil { // else it is this process, whose poller looks at watched words
			e.node.Ring(claimant)
		}
	case t.Rank == w.Comm.Rank:
		return true
	default:
		e.node.Ring(t.local)
	}
	return false
}

// unclaim withdraws the claim to the lock of t, on this node, held or not. It reports whether the
// caller must call serve.
func (w *Window) unclaim(t *target) (serve bool) {
	t.control.Lock().Release(w.e.me, w.e.deadLocals, func(c int) { serve = w.ring(t, c) || serve })
	return serve
}

// wakeClaimants wakes those that claim the lock of t and can hold it now. It reports whether the caller must
// call serve.
func (w *Window) wakeClaimants(t *target) (serve bool) {
	t.control.Lock().Released(w.e.me, w.e.deadLocals, func(c int) { serve = w.ring(t, c) || serve })
	return serve
}

// wakeAfterDeath wakes processes that can hold locks of w since another one is known to be dead.
func (w *Window) wakeAfterDeath() {
	for i := range w.targets {
		t := w.targets[i].Load()
		if t == nil || t.control == nil {
			continue
		}
		serve := false
		t.control.Lock().WakeAfterDeath(w.e.deadLocals, func(c int) { serve = w.ring(t, c) || serve })
		if serve {
			w.serve()
		}
	}
}

// release is unclaim where the engine's lock is not held.
func (w *Window) release(t *target) {
	if !t.rec.Bare && w.unclaim(t) {
		w.serveNow()
	}
}

// serveNow is serve where the engine's lock is not held.
func (w *Window) serveNow() {
	w.e.p.Lock()
	w.serve()
	w.e.p.Unlock()
}

// inherit returns an error, and has released the lock of t, if a process has died with the lock and
// no other has been told, or if the target has died. The latter comes first: a process that is taken for
// dead may take all others for dead, while they live and use the lock, and must not remove their claims.
func (w *Window) inherit(t *target) error {
	if w.e.dead(t.Process) {
		w.release(t)
		return w.e.goneNow(t)
	}
	rank, died := w.deadHolder(t.control)
	if !died {
		return nil
	}
	w.release(t)
	return w.died(t, rank)
}

// deadHolder takes the rank of a process that has died with the lock of a control block, if there is
// one of which nobody has been told.
func (w *Window) deadHolder(c *shmfmt.Window) (rank int, died bool) {
	local, rank := c.Lock().ReapDead(w.e.deadLocals)
	if local >= 0 {
		rank = w.Comm.RankOf(int32(w.e.p.Job().Local[local]))
	}
	return rank, local >= 0 || rank >= 0
}

// died is the error of the process that has the lock of t after one that died with it.
func (w *Window) died(t *target, rank int) error {
	return class.Errorf(class.ProcFailed, "rank %d died while it had the lock of rank %d", rank, t.Rank)
}

// acquire continues where take was not done, and waits until t is locked.
func (w *Window) acquire(t *target, exclusive bool, by call.Number) error {
	e := w.e
	if t.control == nil {
		e.p.Lock()
		defer e.p.Unlock()
		t.asks++
		e.requestLock(t, exclusive)
		err := w.awaitLocked(&t.answered, t.asks, by, t)
		if err == nil {
			err, t.refusal = t.refusal, nil
		}
		return err
	}
	l := t.control.Lock()
	if e.spin(func() bool { return l.Look(e.me, e.deadLocals) == shmfmt.LockFree }) {
		l.Hold(e.me)
		return w.inherit(t)
	}
	e.p.Lock()
	t.lockSeen = shmfmt.LockFree
	err := w.awaitLock(t, by)
	e.p.Unlock()
	if err != nil {
		w.unclaim(t) // the target is dead, and with it its service
		return err
	}
	return w.inherit(t)
}

// awaitLock waits for the lock of t, on this node, that was claimed. The lock of the engine is
// held.
func (w *Window) awaitLock(t *target, by call.Number) error {
	e, moves := w.e, t.control.Lock().Moves()
	x := w.waiter(by, t)
	defer e.freeWaiter(x)
	for {
		seen := moves.Load()
		if cause := e.p.DownCause(int(t.Process)); cause != nil { // before owns: see inherit
			return link.Gone(t.Rank, cause)
		}
		if w.owns(t) {
			return nil
		}
		x.Watch(moves, seen+1, &x.asleep)
		e.p.Wait(&x.Event, int(t.Process))
	}
}

// owns reports whether the lock of t that was claimed is held. If not, this process is rung when
// that changes. The lock of the engine is held.
func (w *Window) owns(t *target) bool {
	e, l := w.e, t.control.Lock()
	for {
		found := l.Look(e.me, e.deadLocals)
		if found == shmfmt.LockFree {
			l.Hold(e.me)
			return true
		}
		if found <= t.lockSeen {
			return false
		}
		l.AnnounceSleep(e.me, found)
		t.lockSeen = found // and look once more: the lock may have come before the others saw that
	}
}

// granted takes the answer of a target on another node that was asked for its lock. With a class
// the lock is not given: because a process has died with it, or because the target has freed the
// window (Engine.stale). It reports false for an answer that no correct process sends. The lock is
// held.
func (w *Window) granted(t *target, c class.Class, rank int64) bool {
	switch {
	case t.control != nil || t.answered.Load() >= t.asks:
		return false
	case c == class.Success:
	case t.refusal != nil:
		return false
	case c == class.Win:
		t.refusal = class.Errorf(class.Win, "rank %d has freed the window", t.Rank)
	case c == class.ProcFailed && rank >= 0 && rank < int64(w.Comm.Size()):
		t.refusal = w.died(t, int(rank))
	default:
		return false
	}
	t.answered.Add(1)
	if t.EpochUnderWay() {
		w.e.grantedLate(t)
	}
	return true
}

// giveBack completes all operations to t and releases its lock. No lock is held.
func (w *Window) giveBack(t *target, by call.Number) error {
	e := w.e
	e.p.Lock()
	defer e.p.Unlock()
	if t.control == nil && !t.rec.Bare {
		x := w.waiter(by, t)
		defer e.freeWaiter(x)
		return e.link.Unlock(&t.Target, x)
	}
	err := w.settleLocked(t, false, by)
	if !t.rec.Bare && w.unclaim(t) {
		w.serve()
	}
	return err
}
