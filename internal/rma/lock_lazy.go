package rma

import (
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/sys"
)

// lazyLock is the lock of a target on another node for which Lock has not asked. Loads and stores
// cannot reach the target, so that only the target can tell when the lock is taken, and MPI-5
// 12.5.3 lets Lock return before (the last paragraph: "the call to MPI_WIN_LOCK may block ...; or,
// the first two calls may not block, while MPI_WIN_UNLOCK blocks").
//
// Steps:
//
//  1. Lock opens the epoch and sends nothing. The gate of the target stays closed, so that every call
//     that uses the epoch takes a slow path, which finds heldLazy.
//  2. The first operation, if it is short, is kept (keep).
//  3. Unlock sends one WinEpoch: the lock's mode and the operation. If the target's lock is free, the
//     target carries out the operation, has released the lock, and answers with one WinDone, which
//     carries what the operation has fetched. That is one round trip, where asking for the lock
//     first takes two.
//  4. If the lock is not free the WinEpoch counts as a WinLock, and the target drops the operation:
//     it never keeps data for an origin. The answer is a WinGrant when the lock has come, and
//     the origin sends the operation and the WinUnlock as usual (grantedLate).
//
// Any other call in the epoch (a second operation, a flush, a request, a notification) first asks
// for the lock and waits for it (lockNow). So does Lock of another target by the same goroutine: a
// process that locks several targets gets their locks in the order of its calls, and processes that
// keep to an order cannot wait for each other in a circle. There is at most one lazy lock in a
// process (Engine.lazy). Other goroutines that lock meanwhile do not use it and do not wait for
// it: its owner may wait for them.
//
// If the lock cannot be had (a holder or the target has died), the call that has asked for it
// returns the error, and so do all further ones until Unlock, which ends the epoch.
//
// Rejected: to send the WinLock in Lock without waiting for the answer, and operations and the
// WinUnlock behind it. That is one round trip, too, but three frames, and the target would have to
// keep the frames of each origin that waits for its turn. Rejected as well: to have each call of
// the process, messages and collectives among them, ask for the lock first. No call shows what a
// program does between its calls, so that a program which assumes that the lock is held when Lock
// returns would still be wrong; it needs a flush.
type lazyLock struct {
	owner     atomic.Uintptr // the goroutine that called Lock last
	exclusive bool
	asked     bool            // by lockNow: a WinLock
	failed    error           // why the lock cannot be had
	operation *link.Operation // the operation that is kept; nil if there is none
	waits     *waiter         // waits for the answer to a WinEpoch
	// owner and exclusive are stored before LockingRecord.Lazy, the rest under the engine's lock.
}

// lazy returns the target whose lock the process has not asked for, in an epoch of Lock; nil if there is none.
func (e *Engine) lazy() *target { return (*target)(unsafe.Pointer(e.locking.Lazy.Load())) }

// swapLazy makes t the result of lazy if that was old.
func (e *Engine) swapLazy(old, t *target) bool {
	return e.locking.Lazy.CompareAndSwap((*byte)(unsafe.Pointer(old)), (*byte)(unsafe.Pointer(t)))
}

// lazily begins an epoch with t without asking for its lock, and reports whether it may.
// Window.mu is held.
func (w *Window) lazily(t *target, exclusive bool) bool {
	e := w.e
	if t.control != nil || w.check != nil || e.dead(t.Process) || e.lazy() != nil {
		return false
	}
	me := sys.Goroutine()
	if me == 0 {
		return false // lockEarlier needs the goroutine
	}
	t.lazy.owner.Store(me)
	t.lazy.exclusive = exclusive
	return e.swapLazy(nil, t)
}

// lockEarlier takes the lazy lock of the calling goroutine, which is about to lock another target.
// The next call in that epoch reports an error. No lock is held.
func (e *Engine) lockEarlier() {
	if t := e.lazy(); t != nil && t.lazy.owner.Load() == sys.Goroutine() && !planted.LazyPassed {
		t.w.lockNow(t, call.WinLock)
	}
}

// lockNow asks for the lazy lock of t, unless another call has, and returns when it is held and the
// operation that was kept is under way, or returns why it cannot be had. No lock is held.
func (w *Window) lockNow(t *target, by call.Number) error {
	e, z := w.e, &t.lazy
	e.p.Lock()
	if e.swapLazy(t, nil) {
		z.asked = true
		t.asks++
		if e.p.DownCause(int(t.Process)) == nil {
			e.requestLock(t, z.exclusive)
		}
	}
	err := error(nil)
	if z.asked {
		err = w.awaitTurn(t, by)
	}
	e.p.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.rec.Held != heldLazy {
		return nil // another goroutine that waited has done this
	}
	e.p.Lock()
	defer e.p.Unlock()
	if z.failed != nil {
		return z.failed
	}
	if err == nil {
		err, t.refusal = t.refusal, nil
	}
	o := z.operation
	z.operation = nil
	z.failed = err
	if err != nil {
		if o != nil {
			e.link.End(o, nil)
		}
		return err
	}
	if o != nil {
		e.dispatch(t, o)
	}
	z.asked, t.rec.Held = false, heldLocked
	t.setGate(gateOpen | gateLocked)
	return nil
}

// awaitTurn waits for the answer to the last WinLock to t. The lock of the engine is held.
func (w *Window) awaitTurn(t *target, by call.Number) error {
	x := w.waiter(by, t)
	x.turn = true
	defer w.e.freeWaiter(x)
	return x.await(&t.answered, t.asks)
}

// lazyNow is lockNow if t has a lazy lock, and reports whether it had.
func (w *Window) lazyNow(t *target, by call.Number) (bool, error) {
	w.mu.Lock()
	lazy := t.rec.Held == heldLazy
	w.mu.Unlock()
	if !lazy {
		return false, nil
	}
	return true, w.lockNow(t, by)
}

// lazyAllNow is lazyNow of all targets.
func (w *Window) lazyAllNow(by call.Number) error {
	var first error
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && t.control == nil {
			_, err := w.lazyNow(t, by)
			first = firstOf(first, err)
		}
	}
	return first
}

// fits reports whether an access of that many bytes may go with a WinEpoch, whatever the state of its target.
func fits(o *operation.Op, size int64) bool {
	return size <= link.ShortMax && o.Notify == 0 && o.Done != operation.Remote && o.Contiguous() &&
		(o.Fn != op.NoOp || o.Kind != operation.Accumulate || o.Fetches())
}

// keep keeps an operation that fits for Unlock, if it is the first of its epoch and no call has
// asked for the lock. It reports whether it did. It takes the lock.
func (e *Engine) keep(v *View, t *target, a *operation.Op, off uint64) (bool, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if cause := e.p.DownCause(int(t.Process)); cause != nil {
		return false, link.Gone(t.Rank, cause)
	}
	if v.number != 0 || t.lazy.operation != nil || e.lazy() != t || a.Size() > int64(e.p.ChunkMax(int(t.Process))) {
		return false, nil
	}
	t.lazy.operation = v.operation(t, a, off)
	return true, nil
}

// unlockLazy ends the epoch of a lazy lock. Window.mu is held, and is not when it returns. It
// reports false if the lock has been asked for, and is held: Unlock must continue.
func (w *Window) unlockLazy(t *target) (done bool, err error) {
	e := w.e
	e.p.Lock()
	if e.launchEpoch(t) {
		t.rec.Held = heldChanging
		w.mu.Unlock()
		err = w.awaitEpoch(t)
		e.p.Unlock()
	} else {
		e.p.Unlock()
		w.mu.Unlock()
		err = w.lockNow(t, call.WinUnlock)
		if err == nil {
			return false, nil
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e.p.Lock()
	t.lazy.reset()
	e.p.Unlock()
	t.rec.Held = heldNot
	w.unlocked()
	return true, err
}

// reset forgets an epoch.
func (z *lazyLock) reset() {
	z.exclusive, z.asked, z.failed, z.operation, z.waits = false, false, nil, nil, nil
}

// launchEpoch sends the WinEpoch of t, if its lock has not been asked for and nothing else is
// under way there. The lock is held.
func (e *Engine) launchEpoch(t *target) bool {
	if !e.link.TakesEpoch(&t.Target) || !e.swapLazy(t, nil) {
		return false
	}
	t.asks++
	z := &t.lazy
	o := z.operation
	z.operation = nil
	e.link.SendEpoch(&t.Target, o, z.exclusive)
	return true
}

// awaitEpoch waits for the end of the epoch whose WinEpoch is sent, and returns its error. The lock
// of the engine is held.
func (w *Window) awaitEpoch(t *target) error {
	e, z := w.e, &t.lazy
	x := w.waiter(call.WinUnlock, t)
	defer e.freeWaiter(x)
	x.turn, z.waits = true, x
	return e.link.AwaitEpoch(&t.Target, x)
}

// grantedLate continues an epoch whose WinEpoch has found the lock taken, when the epoch gets the
// lock or cannot have it. A handler of frames calls it, with the lock held.
func (e *Engine) grantedLate(t *target) {
	z := &t.lazy
	z.waits.turn = false
	z.waits = nil
	err := t.refusal
	t.refusal = nil
	if e.link.ResumeEpoch(&t.Target, err) {
		t.rec.Framed.Store(true)
	}
}

// appendTurn describes a wait for a lock.
func appendTurn(b []byte, rank int) []byte {
	return strconv.AppendInt(append(b, ", for the lock of rank "...), int64(rank), 10)
}
