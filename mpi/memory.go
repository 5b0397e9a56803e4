package mpi

import (
	"math"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
)

// AllocMem allocates zeroed memory for n elements of T, which the processes of the node can
// access directly if it is exposed by WinCreate or Attach. It may be used like any other memory,
// for messages and for windows, and neither of them requires it. c identifies the process; it
// may be any communicator of it.
//
// The memory begins at a multiple of 64 bytes, or of the value of MinimumAlignment.
//
// The memory is outside of the Go heap: FreeMem frees it even if slices still refer to it, and
// it must not be used after that, nor after Finalize. Core dumps do not contain it.
//
// Errors: ErrType if T contains pointers; ErrSize if n is negative; ErrNoMem, at once, if the
// machine or the control group does not have that much memory. Memory that is returned is really
// available.
//
// C: MPI_Alloc_mem, section 9.2.
func AllocMem[T any](c *Comm, n int, hints ...MemHint) ([]T, error) {
	if err := c.usable(call.AllocMem); err != nil {
		return nil, err
	}
	checkKeys(c, call.AllocMem, hints...)
	unit, err := unitOf[T]()
	switch {
	case err != nil:
		return nil, wrap(err, call.AllocMem, c, Undefined, Undefined)
	case n < 0:
		return nil, fail(ErrSize, call.AllocMem, c, "number of elements is %d, which is negative", n)
	case int64(n) > math.MaxInt64/unit:
		return nil, fail(ErrNoMem, call.AllocMem, c, "%d elements of %d bytes", n, unit)
	}
	// A slice without elements gets memory for one; otherwise Go would not keep its address.
	room := max(n, 1)
	b, err := c.w.Memory.Alloc(int64(room)*unit, alignment(hints))
	if err != nil {
		return nil, wrap(err, call.AllocMem, c, Undefined, Undefined)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.Mem))), room)[:n], nil
}

// FreeMem frees memory of AllocMem, which it identifies by the address of the first element; the
// slice may be shorter than the one that AllocMem returned. The memory must not be part of a
// window. ErrBase, without any effect, if AllocMem of the same process did not return mem, or if
// it was freed before.
//
// C: MPI_Free_mem, section 9.2.
func FreeMem[T any](c *Comm, mem []T) error {
	if err := c.usable(call.FreeMem); err != nil {
		return err
	}
	var first []byte
	if p := unsafe.SliceData(mem); p != nil {
		first = unsafe.Slice((*byte)(unsafe.Pointer(p)), 1)
	}
	return wrap(c.w.Memory.Free(first), call.FreeMem, c, Undefined, Undefined)
}

// alignment is the alignment that hints ask for, in bytes; 0 if there is no valid one.
func alignment(list []MemHint) (bytes int64) {
	for _, h := range list {
		if h != nil {
			h.memHint(&bytes)
		}
	}
	return bytes
}
