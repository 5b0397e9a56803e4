package mpi

// WinDescriptor is the address of a window's record outside of the Go heap. It exists for bindings for other
// languages, whose compiled code then does the shortest operations itself: see Layouts. The address is valid
// until the window is freed, as long as the Window is reachable. It is 0 in checking mode, for a window
// that has been freed, and for one that was made from a memory handle.
//
// C: none; MPI_Put and others look at it.
func (internals) WinDescriptor(w *Window) uintptr {
	if w.slowPath() || w.c.freed.Load() {
		return 0
	}
	return w.v.Descriptor()
}

// AfterLock does what remains of a Lock or Unlock that compiled code has made in the record of a window, and that
// others have to do with: it wakes those that claim the lock of a target, or unlocks the mutex of the record.
//
// C: none; MPI_Win_lock and MPI_Win_unlock end with it.
func (internals) AfterLock(w *Window, rank int, wake, unlock bool) { w.v.AfterC(rank, wake, unlock) }
