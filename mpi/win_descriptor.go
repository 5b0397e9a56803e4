package mpi

// WinDescriptor is the address of the record of a window, which is not in the Go heap, and the number
// of its layout: for bindings in other languages, whose compiled code then does the shortest of
// operations by itself. abi/lib/fast_layout.h has the layout, with its number; code that was
// compiled for another one must not dereference the address. The address is valid until the window is freed, as long as the
// Window is reachable. It is 0 where there is nothing to be seen: in checking mode, of a
// window that has been freed, and of one that was made of a memory handle.
//
// C: none; MPI_Put and others look at it.
func (internals) WinDescriptor(w *Window) (address uintptr, layout uint64) {
	if w.slowPath() || w.c.freed.Load() {
		return 0, 0
	}
	return w.v.Descriptor()
}
