package bind

import "github.com/halo-mpi/halo/mpi"

// scope is a window as the calling thread uses it for operations and flushes.
func (l *Lib) scope(w *mpi.Window) *mpi.Window {
	if l.hooks.Thread == nil {
		return w
	}
	return engine.OfThread(w, l.hooks.Thread)
}
