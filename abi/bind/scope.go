package bind

import "github.com/halo-mpi/halo/mpi"

// scope returns the window on which the calling thread issues and flushes operations: see
// OfThread in package mpi.
func (l *Lib) scope(w *mpi.Window) *mpi.Window {
	if l.hooks.Thread == nil {
		return w
	}
	return engine.OfThread(w, l.hooks.Thread)
}
