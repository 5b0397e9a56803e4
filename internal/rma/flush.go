package rma

// passive returns the target of a flush, nil for ProcNull, or an error if it is not
// locked.
func (w *Window) passive(rank int) (*target, error) {
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
	if w.mode.Load()&modeLockAll != 0 || t.gate.Load()&gateLocked != 0 {
		return t, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch == epochLock {
		return nil, w.wrong("rank %d is not locked", rank)
	}
	return nil, w.wrong("%v: flushes belong to epochs of Lock and LockAll", w.epoch)
}

// passiveAll returns an error if nothing is locked.
func (w *Window) passiveAll() error {
	if w.mode.Load()&modeLockAll != 0 {
		return nil
	}
	if err := w.live(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch != epochLock {
		return w.wrong("%v: flushes belong to epochs of Lock and LockAll", w.epoch)
	}
	return nil
}

// Flush completes all operations to a target that were started before, by any goroutine,
// at the origin and at the target (MPI_WIN_FLUSH). It is a full fence. The target has no
// part in it.
func (v *View) Flush(target int) error {
	w := v.w
	if uint(target) < uint(len(w.targets)) {
		if t := w.targets[target].Load(); t != nil && (w.mode.Load()&modeLockAll|t.gate.Load()&gateLocked) != 0 && t.settled() {
			fence()
			return nil
		}
	}
	return w.flush(target, false, "Flush")
}

// FlushLocal is Flush at the origin only: memory that was given to operations may be used
// again (MPI_WIN_FLUSH_LOCAL).
func (v *View) FlushLocal(target int) error { return v.w.flush(target, true, "FlushLocal") }

func (w *Window) flush(rank int, local bool, call string) error {
	t, err := w.passive(rank)
	if err != nil || t == nil {
		return err
	}
	err = w.settle(t, local, call)
	fence()
	return err
}

// FlushAll is Flush of all targets (MPI_WIN_FLUSH_ALL).
func (v *View) FlushAll() error { return v.w.flushAll(false, "FlushAll") }

// FlushLocalAll is FlushLocal of all targets (MPI_WIN_FLUSH_LOCAL_ALL).
func (v *View) FlushLocalAll() error { return v.w.flushAll(true, "FlushLocalAll") }

func (w *Window) flushAll(local bool, call string) error {
	if err := w.passiveAll(); err != nil {
		return err
	}
	err := w.settleAll(local, call)
	fence()
	return err
}

// Sync orders the program's own loads and stores of window memory before it with those
// after it (MPI_WIN_SYNC). The memory model is unified: there is one copy of the memory,
// and nothing else to do.
func (v *View) Sync() error {
	if err := v.w.passiveAll(); err != nil {
		return err
	}
	v.w.joinService()
	fence()
	return nil
}
