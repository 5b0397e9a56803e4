package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/link"
)

// passive returns the target of a call that flushes, nil for ProcNull, or an error if it is not
// locked. It takes a lazy lock.
func (w *Window) passive(rank int, by call.Number) (*target, error) {
	if err := w.live(); err != nil {
		return nil, err
	}
	if rank == ProcNull {
		return nil, w.passiveAll()
	}
	t, err := w.target(rank)
	if err != nil {
		return nil, err
	}
	if w.locks(t) {
		return t, nil
	}
	if lazy, err := w.lazyNow(t, by); lazy || err != nil {
		return t, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch() == epochLock {
		return nil, w.wrong("rank %d is not locked", rank)
	}
	return nil, w.wrong("%v: flushes belong to epochs of Lock and LockAll", w.epoch())
}

// locks reports whether an epoch of Lock or LockAll with t is open. It is inlined.
func (w *Window) locks(t *target) bool {
	return w.rec.Mode.Load()&modeLockAll|t.rec.Gate.Load()&gateLocked != 0
}

// passiveAll returns an error if nothing is locked.
func (w *Window) passiveAll() error {
	if w.rec.Mode.Load()&modeLockAll != 0 {
		return nil
	}
	if err := w.live(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch() != epochLock {
		return w.wrong("%v: flushes belong to epochs of Lock and LockAll", w.epoch())
	}
	return nil
}

// passiveAllNow is passiveAll, and takes all lazy locks.
func (w *Window) passiveAllNow(by call.Number) error {
	if err := w.passiveAll(); err != nil || w.rec.Mode.Load()&modeLockAll != 0 {
		return err
	}
	return w.lazyAllNow(by)
}

// Flush completes all operations to a target that were started before, by any goroutine, at the
// origin and at the target (MPI_WIN_FLUSH). In a view of thread scope it completes those of the
// view only. It is a full fence. The target takes no part.
func (v *View) Flush(target int) error {
	w := v.w
	if t := w.usedTarget(target); t != nil && w.locks(t) && t.settled() && v.handle.reaches(target) {
		fence()
		return nil
	}
	return v.flush(target, false, call.WinFlush)
}

// FlushLocal is Flush at the origin only: memory that was given to operations may be used
// again (MPI_WIN_FLUSH_LOCAL).
func (v *View) FlushLocal(target int) error { return v.flush(target, true, call.WinFlushLocal) }

func (v *View) flush(rank int, local bool, by call.Number) error {
	if err := v.handle.takes(rank); err != nil {
		return err
	}
	t, err := v.w.passive(rank, by)
	if err != nil || t == nil {
		return err
	}
	err = v.settle(t, local, by)
	fence()
	return err
}

// FlushAll is Flush of all targets (MPI_WIN_FLUSH_ALL).
func (v *View) FlushAll() error { return v.flushAll(false, call.WinFlushAll) }

// FlushLocalAll is FlushLocal of all targets (MPI_WIN_FLUSH_LOCAL_ALL).
func (v *View) FlushLocalAll() error { return v.flushAll(true, call.WinFlushLocalAll) }

func (v *View) flushAll(local bool, by call.Number) error {
	if v.handle != nil {
		return v.flush(v.handle.rank, local, by)
	}
	if err := v.w.passiveAllNow(by); err != nil {
		return err
	}
	err := v.settleAll(local, by)
	fence()
	return err
}

// Sync orders the program's own loads and stores of window memory before it with those after it
// (MPI_WIN_SYNC). The memory model is unified: there is one copy of the memory, and Sync is a
// fence.
func (v *View) Sync() error {
	if err := v.entire(); err != nil {
		return err
	}
	if err := v.w.passiveAll(); err != nil {
		return err
	}
	v.w.joinService()
	fence()
	return nil
}

// settle waits until the operations to t that a flush of v covers are complete, at the origin if
// local, else at the target. It returns the first error of an operation without a request.
func (v *View) settle(t *target, local bool, by call.Number) error {
	if t.settled() {
		return nil
	}
	w, e := v.w, v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	if v.number == 0 {
		return w.settleLocked(t, local, by)
	}
	c := t.Numbered(v.number)
	if planted.ScopeOfTheMain {
		c = t.Numbered(0)
	}
	if c == nil || c.Idle() && e.p.DownCause(int(t.Process)) == nil {
		return nil
	}
	x := w.waiter(by, t)
	defer e.freeWaiter(x)
	return e.link.SettleOwn(c, local, x)
}

// settleAll is settle of all targets at once.
func (v *View) settleAll(local bool, by call.Number) error {
	w, e := v.w, v.w.e
	e.p.Lock()
	number := v.number
	if number == 0 {
		e.p.Unlock()
		return w.settleAll(local, by)
	}
	defer e.p.Unlock()
	for i := range w.targets {
		if c := w.channelTo(i, number); c != nil {
			e.link.RequestOwn(c, local)
		}
	}
	var first error
	x := w.waiter(by, nil)
	defer e.freeWaiter(x)
	for i := range w.targets {
		if c := w.channelTo(i, number); c != nil {
			x.t = w.targets[i].Load()
			first = firstOf(first, e.link.AwaitOwn(c, local, x))
		}
	}
	return first
}

// channelTo is a channel of a rank, nil if it was never used.
func (w *Window) channelTo(rank int, number uint16) *link.Channel {
	if t := w.targets[rank].Load(); t != nil && !t.settled() {
		return t.Numbered(number)
	}
	return nil
}
