package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
)

// Fence completes all operations that the own process has started since the fence before, and
// returns when those of all members are complete (MPI_WIN_FENCE). Operations may follow, until the
// next one. It is collective.
//
// It costs one barrier, and a flush of targets that were reached by frames. ModeNoPrecede saves
// nothing more, since targets with nothing under way are skipped anyway. ModeNoSucceed makes
// operations errors. ModeNoStore and ModeNoPut concern separate copies of memory, of which there
// are none.
func (v *View) Fence(assert int) error {
	w := v.w
	if err := v.entire(); err != nil {
		return err
	}
	if err := asserted(assert, ModeNoStore|ModeNoPut|ModeNoPrecede|ModeNoSucceed); err != nil {
		return err
	}
	w.mu.Lock()
	if w.epoch() != epochNone && w.epoch() != epochFence {
		defer w.mu.Unlock()
		return w.wrong("%v", w.epoch())
	}
	if w.posted {
		defer w.mu.Unlock()
		return w.wrong("an exposure epoch of Post is open")
	}
	used := w.rec.Mode.Load()&gateOpen != 0
	w.set(epochChanging, gateClosed)
	w.mu.Unlock()

	var err error
	if used && !planted.FenceNotFlushed {
		err = w.settleAll(false, call.WinFence)
	}
	fence() // orders the stores of copies before what others do after the barrier
	var lost error
	if !planted.FenceNotMet {
		lost = w.e.colls.Barrier(w.Comm)
	}
	w.joinService()

	w.mu.Lock()
	if lost == nil && assert&ModeNoSucceed == 0 {
		w.set(epochFence, modeFence) // open from the first operation on
	} else {
		w.set(epochNone, gateClosed)
	}
	w.mu.Unlock()
	return firstOf(lost, err)
}
