package mpi

import "unsafe"

// Attach opens mem to the members of a dynamic window: at the addresses that it has,
// Address(mem) and up, which they need to be told. It is local. Any number of regions can
// be attached; one that overlaps another is ErrRMAAttach, another flavor of window
// ErrRMAFlavor, and a T that holds pointers ErrType.
//
// C: MPI_Win_attach, section 12.2.4.
func Attach[T any](w *Window, mem []T) error {
	if err := w.usable(callAttach); err != nil {
		return err
	}
	_, err := golang[T]()
	if err == nil {
		err = w.v.Attach(memory(mem), mem)
	}
	if err != nil {
		return w.failed(err, callAttach, Undefined)
	}
	if w.checks() {
		w.v.Checker().Attached(here(callAttach), uint64(Address(mem)), len(memory(mem)))
	}
	return nil
}

// Detach closes mem, which begins where memory does that has been attached. Operations
// on it must have come to their end. It is local. What is not attached is ErrRMAAttach.
//
// C: MPI_Win_detach, section 12.2.4.
func Detach[T any](w *Window, mem []T) error {
	if err := w.usable(callDetach); err != nil {
		return err
	}
	if err := w.v.Detach(uint64(Address(mem))); err != nil {
		return w.failed(err, callDetach, Undefined)
	}
	if w.checks() {
		w.v.Checker().Detached(here(callDetach), uint64(Address(mem)))
	}
	return nil
}

// Address is the address at which mem begins: the displacement in a dynamic window
// that it is attached to. Memory that is attached does not move. It means nothing but
// that, and the address of other memory means nothing at all.
//
// C: MPI_Get_address, section 5.1.5.
func Address[T any](mem []T) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
}

// AintAdd is the address disp bytes behind base.
//
// C: MPI_Aint_add, section 5.1.5.
func AintAdd(base, disp int64) int64 { return base + disp }

// AintDiff is how many bytes the address a is behind b.
//
// C: MPI_Aint_diff, section 5.1.5.
func AintDiff(a, b int64) int64 { return a - b }
