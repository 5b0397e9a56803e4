package rma

import (
	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/op"
)

// direct reports whether the memory of all members is mapped here as long as the window exists, so
// that accumulates to any of them are atomic operations of the caller. The lock is held.
func (w *Window) direct() bool {
	for rank := range w.targets {
		t, err := w.targetLocked(rank)
		if err != nil || t.path != pathMapped {
			return false
		}
	}
	return true
}

// Intrinsic reports whether an accumulate of n elements of type t, aligned to their size, consists
// of atomic operations of the calling process, one for each element, whichever member is the target
// (MPI_WIN_OP_INTRINSIC). compare asks about compare-and-swap.
//
// Without the assertion long accumulates use vectors, under a lock.
func (v *View) Intrinsic(o op.Op, t op.Type, n int64, compare bool) (bool, error) {
	w := v.w
	if err := w.live(); err != nil {
		return false, err
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	if !w.direct() || !apply.Intrinsic(t.Size()) {
		return false, nil
	}
	return compare || n <= 1 || w.own.Fine || v.rec.How.Load()&howIntrinsic != 0 || n <= int64(w.own.Few()), nil
}
