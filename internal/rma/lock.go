package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
)

// Lock locks a target, shared or exclusively, and begins an access epoch with it (MPI_WIN_LOCK). It
// returns when the lock is held. For a target on another node it may return before: then the lock
// is held when the first flush returns, see lazyLock. Other targets may be locked at the same time.
// With ModeNoCheck no other process holds a conflicting lock, so that Lock only opens the epoch.
//
// If the target's control block is mapped, Lock costs four atomic operations. If a process has died
// with the lock, one process that locks the target later gets class.ProcFailed; it does not have
// the lock then, and can call Lock again.
func (v *View) Lock(exclusive bool, target, assert int) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if err := v.lockable(assert); err != nil {
		return err
	}
	if target == ProcNull {
		return w.lockNull()
	}
	t, err := w.target(target)
	if err != nil {
		return err
	}
	w.e.lockEarlier()
	w.mu.Lock()
	if err := w.mayLock(t); err != nil {
		w.mu.Unlock()
		return err
	}
	w.set(epochLock, gateClosed)
	w.rec.Locked++
	done := true
	t.rec.Bare = assert&ModeNoCheck != 0
	if !t.rec.Bare {
		if w.lazily(t, exclusive) {
			t.rec.Held = heldLazy
			w.mu.Unlock()
			return nil
		}
		done, err = w.take(t, exclusive)
	}
	if done {
		w.hold(t, err)
		w.mu.Unlock()
		return err
	}
	t.rec.Held = heldChanging
	w.mu.Unlock()
	err = w.acquire(t, exclusive, call.WinLock)
	w.mu.Lock()
	w.hold(t, err)
	w.mu.Unlock()
	return err
}

// lockable makes the checks that Lock and LockAll have in common.
func (v *View) lockable(assert int) error {
	if err := asserted(assert, ModeNoCheck); err != nil {
		return err
	}
	// With ModeNoCheck no lock is taken, so that there is nothing that the hint could spoil.
	if v.w.rec.NoLocks.Load() && (assert&ModeNoCheck == 0 || v.w.check != nil) {
		return class.Errorf(class.RMASync, "the window was made with no_locks")
	}
	return nil
}

// mayLock returns an error unless t may be locked. Window.mu is held.
func (w *Window) mayLock(t *target) error {
	if w.epoch() != epochLock {
		if err := w.free(); err != nil {
			return err
		}
	} else if t.rec.Held != heldNot {
		return w.wrong("rank %d is locked by this process already", t.Rank)
	}
	if w.posted && t.Rank == w.Comm.Rank {
		return w.wrong("the own memory is exposed by Post")
	}
	return nil
}

// lockedSelf reports whether this process has locked its own memory. Window.mu is held.
func (w *Window) lockedSelf() bool {
	t := w.targets[w.Comm.Rank].Load()
	return t != nil && t.rec.Held != heldNot
}

// lockNull begins an epoch with ProcNull.
func (w *Window) lockNull() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch() != epochLock {
		if err := w.free(); err != nil {
			return err
		}
	} else if w.null {
		return w.wrong("the null process is locked by this process already")
	}
	w.set(epochLock, gateClosed)
	w.null = true
	w.rec.Locked++
	return nil
}

// hold notes that t is locked, or that it could not be locked. Window.mu is held.
func (w *Window) hold(t *target, err error) {
	if err != nil {
		t.rec.Held = heldNot
		w.unlocked()
		return
	}
	t.rec.Held = heldLocked
	t.setGate(gateOpen | gateLocked)
}

// unlocked counts one target that is unlocked. Window.mu is held.
func (w *Window) unlocked() {
	w.rec.Locked--
	if w.rec.Locked == 0 {
		w.set(epochNone, gateClosed)
	}
}

// Unlock completes all operations to a target, at the target, and releases its lock
// (MPI_WIN_UNLOCK).
func (v *View) Unlock(target int) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if target == ProcNull {
		return w.unlockNull()
	}
	t, err := w.target(target)
	if err != nil {
		return err
	}
	w.mu.Lock()
	if x := w.epoch(); x != epochLock {
		w.mu.Unlock() // not deferred: the compiler compiles a defer among this many returns to calls of the runtime
		return w.wrong("%v", x)
	}
	if t.rec.Held == heldLazy {
		if done, err := w.unlockLazy(t); done {
			return err
		}
		return v.Unlock(target)
	}
	if t.rec.Held != heldLocked {
		w.mu.Unlock()
		return w.wrong("rank %d is not locked", t.Rank)
	}
	t.setGate(gateClosed)
	if t.settled() || planted.UnlockEarly && t.control != nil { // else frames may be in transit
		w.release(t)
		t.rec.Held = heldNot
		w.unlocked()
		w.mu.Unlock()
		return nil
	}
	t.rec.Held = heldChanging
	w.mu.Unlock()
	err = w.giveBack(t, call.WinUnlock)
	w.mu.Lock()
	t.rec.Held = heldNot
	w.unlocked()
	w.mu.Unlock()
	return err
}

func (w *Window) unlockNull() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch() != epochLock || !w.null {
		return w.wrong("the null process is not locked")
	}
	w.null = false
	w.unlocked()
	return nil
}

// LockAll begins an access epoch with all targets, which it locks shared (MPI_WIN_LOCK_ALL). It
// returns when all locks are held. It skips targets that have died. It reports the death of a
// lock's holder as Lock does, and holds no lock then.
//
// It locks targets one after the other, in the order of their ranks. Rejected: locking each target
// at its first use. Two such calls could each hold locks while they wait for others behind a process
// that waits for exclusive locks; if each waits for a lock that the other holds, this is a deadlock,
// which a fixed order excludes. Moreover, a program may access the memory of others, and its own, by
// loads and stores without a call that could lock.
func (v *View) LockAll(assert int) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if err := v.lockable(assert); err != nil {
		return err
	}
	w.e.lockEarlier()
	w.mu.Lock()
	if err := w.free(); err != nil {
		w.mu.Unlock()
		return err
	}
	if w.posted {
		defer w.mu.Unlock()
		return w.wrong("the own memory is exposed by Post")
	}
	if assert&ModeNoCheck != 0 {
		w.set(epochLockAll, modeLockAll|gateOpen)
		w.mu.Unlock()
		return nil
	}
	w.set(epochChanging, gateClosed)
	w.mu.Unlock()
	var err error
	for i := range w.targets {
		err = w.lockOne(i)
		if err != nil {
			w.giveAllBack(call.WinLockAll)
			break
		}
	}
	w.mu.Lock()
	if err == nil {
		w.set(epochLockAll, modeLockAll|gateOpen)
	} else {
		w.set(epochNone, gateClosed)
	}
	w.mu.Unlock()
	return err
}

// lockOne locks one target of LockAll. The epoch is epochChanging, so that no other call reads the
// state of the locks.
func (w *Window) lockOne(rank int) error {
	t, err := w.target(rank)
	if err != nil {
		return err
	}
	if w.e.dead(t.Process) {
		return nil
	}
	t.rec.Bare = false
	done, err := w.take(t, false)
	if !done {
		err = w.acquire(t, false, call.WinLockAll)
	}
	if err == nil {
		t.rec.Held = heldLocked
	} else if w.e.dead(t.Process) {
		err = nil
	}
	return err
}

// UnlockAll completes all operations, at their targets, and ends the epoch of LockAll
// (MPI_WIN_UNLOCK_ALL).
func (v *View) UnlockAll() error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.epoch() != epochLockAll {
		defer w.mu.Unlock()
		return w.wrong("%v", w.epoch())
	}
	w.set(epochChanging, gateClosed)
	w.mu.Unlock()
	err := w.giveAllBack(call.WinUnlockAll)
	w.mu.Lock()
	w.set(epochNone, gateClosed)
	w.mu.Unlock()
	return err
}

// giveAllBack completes all operations of LockAll and releases its locks. It sends the frames to all
// targets before it waits: a frame that releases a lock also completes the earlier operations. The
// epoch is epochChanging.
func (w *Window) giveAllBack(by call.Number) error {
	first := w.gather(by)
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && t.control == nil && t.rec.Held != heldNot {
			w.e.p.Lock()
			w.e.link.SendUnlock(&t.Target)
			w.e.p.Unlock()
		}
	}
	first = firstOf(first, w.settleAll(false, by))
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil && t.rec.Held != heldNot {
			if t.control != nil {
				w.release(t)
			}
			t.rec.Held = heldNot
		}
	}
	return first
}
