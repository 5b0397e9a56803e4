package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/check"
)

// Store copies from into this process's own window memory, starting at displacement disp, which
// is an address in a dynamic window. It does the same as copying into Local, but checking mode
// sees it: if the memory is the target of a pending operation, the error is ErrRMAConflict, and
// nothing is stored. ErrRMARange if the elements are not all in the window.
//
// C: none; it is a store into memory of the window, section 12.7.
func (w Win[T]) Store(from []T, disp int) error {
	return w.ownMemory(call.Store, true, disp, len(from), func(mem []byte) { copy(mem, memory(from)) })
}

// Load copies from this process's own window memory into a slice; it is the inverse of Store. In
// checking mode it is an error if a pending operation updates the memory. Load is not suited to
// poll for updates of other processes; use FetchAndOp with NoOp for that.
//
// C: none; it is a load from memory of the window, section 12.7.
func (w Win[T]) Load(into []T, disp int) error {
	return w.ownMemory(call.Load, false, disp, len(into), func(mem []byte) { copy(memory(into), mem) })
}

// Writing calls fn with n elements of this process's own window memory, starting at displacement
// disp, for loads and stores: see Store. In checking mode operations of other processes on these
// elements are errors of those processes until fn returns. fn must not keep the slice.
//
// C: none; fn is stores into memory of the window, section 12.7.
func (w Win[T]) Writing(disp, n int, fn func(mem []T)) error {
	return w.ownElements(call.Writing, true, disp, n, fn)
}

// Reading is Writing for loads only.
//
// C: none; fn is loads from memory of the window, section 12.7.
func (w Win[T]) Reading(disp, n int, fn func(mem []T)) error {
	return w.ownElements(call.Reading, false, disp, n, fn)
}

// ownElements is ownMemory with the memory as elements of T.
func (w Win[T]) ownElements(k call.Number, store bool, disp, n int, fn func(mem []T)) error {
	var e T
	aligned := true
	err := w.ownMemory(k, store, disp, n, func(mem []byte) {
		aligned = uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%unsafe.Alignof(e) == 0
		if aligned {
			fn(elements[T](mem))
		}
	})
	if err == nil && !aligned {
		return w.failed(class.Errorf(class.Disp, "displacement %d, in units of %d, is not aligned for elements of %d bytes", disp, w.v.Unit(), unsafe.Sizeof(e)), k, Undefined)
	}
	return err
}

// ownMemory runs fn, which loads from or stores to n elements of this process's own window
// memory.
func (w Win[T]) ownMemory(k call.Number, store bool, disp, n int, fn func(mem []byte)) error {
	if err := w.usable(k); err != nil {
		return err
	}
	var e T
	size := int64(unsafe.Sizeof(e))
	off := int64(disp)
	err := error(nil)
	switch {
	case n < 0:
		err = class.Errorf(class.Count, "number of elements is %d, which is negative", n)
	case w.v.Flavor() == rma.Dynamic:
	case disp < 0:
		err = class.Errorf(class.Disp, "displacement %d is negative", disp)
	case off > w.Bytes()/w.v.Unit():
		err = class.Errorf(class.RMARange, "displacement %d, in units of %d, is outside of %d bytes", disp, w.v.Unit(), w.Bytes())
	default:
		off *= w.v.Unit()
	}
	if err == nil && size > 0 && int64(n) > (1<<62)/size {
		err = class.Errorf(class.RMARange, "%d elements of %d bytes are larger than any window", n, size)
	}
	if err == nil {
		c := check.Call{Name: k.String(), Number: k}
		if w.checks() {
			c = located(k)
		}
		err = w.v.Access(c, store, uint64(off), int64(n)*size, fn)
	}
	if err != nil {
		return w.failed(err, k, Undefined)
	}
	return nil
}
