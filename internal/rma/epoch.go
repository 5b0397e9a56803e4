package rma

import "github.com/halo-mpi/halo/internal/class"

// targetSync is what synchronisation keeps for a target.
type targetSync struct{}

// windowSync is what it keeps for a window.
type windowSync struct{}

// admit says whether an operation to t, of any target if nil, fits the current epoch.
func (w *Window) admit(t *target) (gate, error) {
	return gateClosed, fail(class.RMASync, "no access epoch is open")
}

// exposed reports whether the post that t's gate waits for is there. The lock is held.
func (w *Window) exposed(t *target) bool { return false }

// idle returns an error if an epoch is open.
func (w *Window) idle() error { return nil }

func (e *Engine) workSync() int { return 0 }

func (e *Engine) lostSync(peer int) {}
