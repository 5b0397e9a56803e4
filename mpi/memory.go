package mpi

import (
	"math"
	"unsafe"
)

// AllocMem allocates memory for n elements of T, zero, that the processes of the node
// can access directly where it is exposed by WinCreate or Attach. It may be used like any
// other, for messages and for windows, and is never needed for either. c tells which
// process is meant; any communicator of it will do.
//
// It begins at a multiple of 64 bytes, or of what MinimumAlignment says.
//
// The memory is not Go's: it is gone when FreeMem is called, whoever still has the
// slice, and must not be used after that, nor after Finalize. What a T holds must therefore
// be no pointer, or it is ErrType. A negative n is ErrSize. Memory that is not there, by the
// machine's count or that of a control group, is ErrNoMem at once; what is handed out
// is there. Core dumps leave it out.
//
// C: MPI_Alloc_mem, section 9.2.
func AllocMem[T any](c *Comm, n int, hints ...MemHint) ([]T, error) {
	if err := c.usable(callAllocMem); err != nil {
		return nil, err
	}
	checkKeys(c, callAllocMem, hints...)
	unit, err := unitOf[T]()
	switch {
	case err != nil:
		return nil, wrap(err, callAllocMem, c, Undefined, Undefined)
	case n < 0:
		return nil, fail(ErrSize, "AllocMem", c, "number of elements is %d, which is negative", n)
	case int64(n) > math.MaxInt64/unit:
		return nil, fail(ErrNoMem, "AllocMem", c, "%d elements of %d bytes", n, unit)
	}
	// A slice of no elements needs room for one, or Go does not keep its address.
	room := max(n, 1)
	b, err := c.w.Memory.Alloc(int64(room)*unit, alignment(hints))
	if err != nil {
		return nil, wrap(err, callAllocMem, c, Undefined, Undefined)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.Mem))), room)[:n], nil
}

// FreeMem gives memory of AllocMem back, named by its first element: the rest of the
// slice may have been cut off. It must not be part of a window. What AllocMem of the same
// process has not returned, or what was freed before, is ErrBase, and nothing happens.
//
// C: MPI_Free_mem, section 9.2.
func FreeMem[T any](c *Comm, mem []T) error {
	if err := c.usable(callFreeMem); err != nil {
		return err
	}
	var first []byte
	if p := unsafe.SliceData(mem); p != nil {
		first = unsafe.Slice((*byte)(unsafe.Pointer(p)), 1)
	}
	return wrap(c.w.Memory.Free(first), callFreeMem, c, Undefined, Undefined)
}

// alignment is what hints ask for, in bytes; 0 if nothing legal.
func alignment(list []MemHint) (bytes int64) {
	for _, h := range list {
		if h != nil {
			h.memHint(&bytes)
		}
	}
	return bytes
}
