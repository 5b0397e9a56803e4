package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
)

// LockType is whether a lock is exclusive or shared.
//
// C: MPI_LOCK_EXCLUSIVE and MPI_LOCK_SHARED, section 12.5.3.
type LockType int

// The types of locks. While a process holds an exclusive lock on a target, no other process
// holds a lock on it; several may hold shared locks at the same time.
//
// C: MPI_LOCK_EXCLUSIVE and MPI_LOCK_SHARED, section 12.5.3.
const (
	LockExclusive LockType = 301
	LockShared    LockType = 302
)

// String is the name of the type.
func (l LockType) String() string {
	switch l {
	case LockExclusive:
		return "exclusive"
	case LockShared:
		return "shared"
	}
	return "no lock"
}

// Lock begins an epoch in which the caller may access the memory of a rank, until Unlock, and
// waits until it holds the lock. The target takes no part. Locks are granted in the order of the
// requests, except that several processes may hold shared locks at the same time. A process may
// hold locks on several targets. assert may be ModeNoCheck: no other process holds or requests a
// conflicting lock.
//
// Errors: ErrRMASync if this process has locked the target already, or if an epoch of Start is
// open; ErrLockType for an invalid typ. If the holder of a lock has died, Lock returns
// ErrProcFailed once, names the process, and does not hold the lock: the updates of the dead
// process may be incomplete.
//
// If the target is reached over sockets, Lock may return before the lock is held. The lock is
// held when a flush returns, and an epoch of one short operation costs one round trip, in
// Unlock. ErrProcFailed is then returned by the first call that needs the lock, and by Unlock,
// which ends the epoch.
//
// C: MPI_Win_lock, section 12.5.3.
func (w *Window) Lock(typ LockType, target int, assert Assert) error {
	if err := w.usable(call.WinLock); err != nil {
		return err
	}
	if typ != LockExclusive && typ != LockShared {
		return w.failed(class.Errorf(class.LockType, "lock type %d is neither LockExclusive nor LockShared", int(typ)), call.WinLock, target)
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinLock, target, func() error { return w.v.Lock(typ == LockExclusive, target, int(assert)) }), call.WinLock, target)
	}
	return w.done(w.v.Lock(typ == LockExclusive, target, int(assert)), call.WinLock, target)
}

// Unlock ends the epoch that Lock began. When it returns, all operations on the target are
// complete there, and other processes can get the lock.
//
// C: MPI_Win_unlock, section 12.5.3.
func (w *Window) Unlock(target int) error {
	if err := w.usable(call.WinUnlock); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinUnlock, target, func() error { return w.v.Unlock(target) }), call.WinUnlock, target)
	}
	return w.done(w.v.Unlock(target), call.WinUnlock, target)
}

// LockAll is a shared Lock on all members, until UnlockAll. It is not collective.
//
// C: MPI_Win_lock_all, section 12.5.3.
func (w *Window) LockAll(assert Assert) error {
	if err := w.usable(call.WinLockAll); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinLockAll, Undefined, func() error { return w.v.LockAll(int(assert)) }), call.WinLockAll, Undefined)
	}
	return w.done(w.v.LockAll(int(assert)), call.WinLockAll, Undefined)
}

// UnlockAll ends the epoch that LockAll began, as Unlock does.
//
// C: MPI_Win_unlock_all, section 12.5.3.
func (w *Window) UnlockAll() error {
	if err := w.usable(call.WinUnlockAll); err != nil {
		return err
	}
	if w.checks() {
		return w.done(w.checkedSync(call.WinUnlockAll, Undefined, func() error { return w.v.UnlockAll() }), call.WinUnlockAll, Undefined)
	}
	return w.done(w.v.UnlockAll(), call.WinUnlockAll, Undefined)
}

// Flush completes all operations that this process has issued to a target, at the origin and at
// the target, which takes no part. The epoch of Lock or LockAll continues. ErrRMASync without
// such an epoch.
//
// C: MPI_Win_flush, section 12.5.4.
func (w *Window) Flush(target int) error {
	if !w.slowPath() {
		if err := w.v.Flush(target); err != nil {
			return w.failed(err, call.WinFlush, target)
		}
		return nil
	}
	return w.flush(call.WinFlush, target)
}

// FlushAll is Flush for all targets.
//
// C: MPI_Win_flush_all, section 12.5.4.
func (w *Window) FlushAll() error { return w.flush(call.WinFlushAll, Undefined) }

// FlushLocal completes all operations that this process has issued to a target, at the origin:
// the program may reuse their memory, and the results of fetching operations are there.
//
// C: MPI_Win_flush_local, section 12.5.4.
func (w *Window) FlushLocal(target int) error { return w.flush(call.WinFlushLocal, target) }

// FlushLocalAll is FlushLocal for all targets.
//
// C: MPI_Win_flush_local_all, section 12.5.4.
func (w *Window) FlushLocalAll() error { return w.flush(call.WinFlushLocalAll, Undefined) }

func (w *Window) flush(k call.Number, target int) error {
	if err := w.usable(k); err != nil {
		return err
	}
	if w.v.ChecksSync() {
		return w.done(w.checkedSync(k, target, func() error { return w.flushNow(k, target) }), k, target)
	}
	return w.done(w.flushNow(k, target), k, target)
}

func (w *Window) flushNow(k call.Number, target int) error {
	switch k {
	case call.WinFlush:
		return w.v.Flush(target)
	case call.WinFlushAll:
		return w.v.FlushAll()
	case call.WinFlushLocal:
		return w.v.FlushLocal(target)
	}
	return w.v.FlushLocalAll()
}

// Sync is a memory barrier: it makes visible to loads of this process what others have stored
// into its window memory and synchronised, and visible to others what this process has stored.
// Like Flush it requires an epoch of Lock or LockAll; else it is ErrRMASync.
//
// C: MPI_Win_sync, section 12.5.4.
func (w *Window) Sync() error {
	if err := w.usable(call.WinSync); err != nil {
		return err
	}
	return w.done(w.v.Sync(), call.WinSync, Undefined)
}
