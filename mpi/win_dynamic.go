package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
)

// Attach adds mem to a dynamic window, so that its members can access it at the addresses from
// Address(mem) on, which the program has to tell them. It is local. Any number of regions can be
// attached. ErrRMAAttach if mem overlaps another region, ErrRMAFlavor for a window of another
// flavor, ErrType if T contains pointers.
//
// C: MPI_Win_attach, section 12.2.4.
func Attach[T any](w *Window, mem []T) error {
	if err := w.usable(call.WinAttach); err != nil {
		return err
	}
	_, err := golang[T]()
	if err == nil {
		err = w.v.Attach(memory(mem), mem)
	}
	if err != nil {
		return w.failed(err, call.WinAttach, Undefined)
	}
	if w.checks() {
		w.v.Checker().Attached(located(call.WinAttach), uint64(Address(mem)), len(memory(mem)))
	}
	return nil
}

// Detach removes mem, which begins where a region that has been attached begins, from the
// window. Operations on it must be complete. It is local. ErrRMAAttach if no region begins
// there.
//
// C: MPI_Win_detach, section 12.2.4.
func Detach[T any](w *Window, mem []T) error {
	if err := w.usable(call.WinDetach); err != nil {
		return err
	}
	if err := w.v.Detach(uint64(Address(mem))); err != nil {
		return w.failed(err, call.WinDetach, Undefined)
	}
	if w.checks() {
		w.v.Checker().Detached(located(call.WinDetach), uint64(Address(mem)))
	}
	return nil
}

// Address is the address at which mem begins. It is the displacement in a dynamic window that
// mem is attached to. Attached memory does not move; the address has no other use, and that of
// memory that is not attached is meaningless.
//
// C: MPI_Get_address, section 5.1.5.
func Address[T any](mem []T) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
}

// AintAdd is the address disp bytes after base.
//
// C: MPI_Aint_add, section 5.1.5.
func AintAdd(base, disp int64) int64 { return base + disp }

// AintDiff is the number of bytes by which address a lies after b.
//
// C: MPI_Aint_diff, section 5.1.5.
func AintDiff(a, b int64) int64 { return a - b }
