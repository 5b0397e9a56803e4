package mpi

import (
	"math"
	"unsafe"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma"
)

// WinCreate opens mem to the members of c, who bring as much as they like of what type
// they like. Displacements count elements of T. mem stays where it is until the window
// is freed: it must not be part of a variable on the stack of a function that has
// returned, which Go sees to. Memory of AllocMem is accessed directly by the processes of the
// node; other memory costs them a system call. Windows may overlap: accumulates through
// two of them are not atomic with each other.
//
// If one member fails, all do, with the class of its error. A T that holds pointers is
// ErrType. Collective over c.
//
// C: MPI_Win_create, section 12.2.1.
func WinCreate[T any](c *Comm, mem []T, hints ...WinHint) (Win[T], error) {
	unit, err := unitOf[T]()
	s := rma.Spec{Flavor: rma.Created, DispUnit: unit, Refused: err}
	if err == nil {
		s.Mem = memory(mem)
	}
	w, failed := c.newWindow(callWinCreate, &s, hints)
	return Win[T]{w}, failed
}

// WinAllocate makes a window over new memory, that of n elements of T in this process:
// Local is it. It is zero, begins at a multiple of 64 bytes, or of what MinimumAlignment
// says, and is freed with the window. Members may pass different n. The processes of a node
// access it directly.
//
// A negative n is ErrSize; memory that is not there is ErrNoMem, at once. Collective
// over c: see WinCreate.
//
// C: MPI_Win_allocate, section 12.2.2.
func WinAllocate[T any](c *Comm, n int, hints ...WinHint) (Win[T], error) {
	return allocate[T](c, callWinAllocate, rma.Allocated, n, hints)
}

// WinAllocateShared is WinAllocate of memory that all members can load from and store
// to: Shared is that of each. All are on one host, see SplitType, or it is
// ErrRMAShared. The memory of a rank begins where that of the rank before it ends,
// unless SharedNoncontig is true.
//
// C: MPI_Win_allocate_shared, section 12.2.3.
func WinAllocateShared[T any](c *Comm, n int, hints ...WinHint) (Win[T], error) {
	return allocate[T](c, callWinAllocateShared, rma.Shared, n, hints)
}

func allocate[T any](c *Comm, k call, f rma.Flavor, n int, hints []WinHint) (Win[T], error) {
	unit, err := unitOf[T]()
	s := rma.Spec{Flavor: f, DispUnit: unit, Size: int64(n) * unit, Refused: err}
	switch {
	case err != nil:
	case n < 0:
		s.Refused = wrong(ErrSize, "number of elements is %d, which is negative", n)
	case int64(n) > math.MaxInt64/unit:
		s.Refused = wrong(ErrNoMem, "%d elements of %d bytes", n, unit)
	}
	w, failed := c.newWindow(k, &s, hints)
	return Win[T]{w}, failed
}

// unitOf is the displacement unit of a window of elements of T. Elements of no bytes,
// of which there is no getting to the next, count as one.
func unitOf[T any]() (int64, error) {
	t, err := golang[T]()
	if err == nil {
		err = movable(t)
	}
	if err != nil {
		return 1, err
	}
	var e T
	return max(int64(unsafe.Sizeof(e)), 1), nil
}

// WinCreate is the function WinCreate for bytes: displacements count units of that many
// bytes. A unit below 1 is ErrDisp.
//
// C: MPI_Win_create and MPI_Win_create_c, section 12.2.1.
func (c *Comm) WinCreate(mem []byte, unit int, hints ...WinHint) (*Window, error) {
	return c.newWindow(callWinCreate, &rma.Spec{Flavor: rma.Created, Mem: mem, DispUnit: int64(unit)}, hints)
}

// WinCreatePtr is WinCreate for size bytes at p, memory that is no slice of Go, such as that
// of C. The caller answers for it: it is there, all of it, until the window is freed. A
// negative size is ErrSize, and so is one that reaches beyond the highest address; bytes at
// nil are ErrArg.
//
// C: MPI_Win_create and MPI_Win_create_c, section 12.2.1.
func (c *Comm) WinCreatePtr(p unsafe.Pointer, size int64, unit int, hints ...WinHint) (*Window, error) {
	s := rma.Spec{Flavor: rma.Created, DispUnit: int64(unit)}
	switch {
	case size < 0 || uintptr(size) > -uintptr(p)-1 && p != nil:
		s.Refused = wrong(ErrSize, "%d bytes at address %p: the size is negative or exceeds the address space", size, p)
	case size > 0 && uintptr(p) < mem.FirstPage:
		s.Refused = wrong(ErrArg, "%d bytes at address %p, which is not valid", size, p)
	case p != nil:
		s.Mem = unsafe.Slice((*byte)(p), size)
	}
	return c.newWindow(callWinCreate, &s, hints)
}

// WinAllocate is the function WinAllocate for a number of bytes: see Comm.WinCreate.
//
// C: MPI_Win_allocate and MPI_Win_allocate_c, section 12.2.2.
func (c *Comm) WinAllocate(size int64, unit int, hints ...WinHint) (*Window, error) {
	return c.newWindow(callWinAllocate, &rma.Spec{Flavor: rma.Allocated, Size: size, DispUnit: int64(unit)}, hints)
}

// WinAllocateShared is the function WinAllocateShared for a number of bytes: see
// Comm.WinCreate.
//
// C: MPI_Win_allocate_shared and MPI_Win_allocate_shared_c, section 12.2.3.
func (c *Comm) WinAllocateShared(size int64, unit int, hints ...WinHint) (*Window, error) {
	return c.newWindow(callWinAllocateShared, &rma.Spec{Flavor: rma.Shared, Size: size, DispUnit: int64(unit)}, hints)
}

// WinCreateDynamic makes a window without memory: members Attach some when they have it.
// Displacements are addresses in the target, in bytes: see Address. Collective over c.
//
// C: MPI_Win_create_dynamic, section 12.2.4.
func (c *Comm) WinCreateDynamic(hints ...WinHint) (*Window, error) {
	return c.newWindow(callWinCreateDynamic, &rma.Spec{Flavor: rma.Dynamic, DispUnit: 1}, hints)
}

// newWindow makes a window. What is wrong with the arguments of this member is told to
// the others, who wait for it.
func (c *Comm) newWindow(k call, s *rma.Spec, list []WinHint) (*Window, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	checkKeys(c, k, list...)
	if err := c.intra(k); err != nil {
		return nil, err
	}
	switch {
	case s.Refused != nil:
	case s.DispUnit < 1:
		s.Refused = wrong(ErrDisp, "displacement unit of %d bytes, want at least 1", s.DispUnit)
	case s.Size < 0:
		s.Refused = wrong(ErrSize, "size of %d bytes is negative", s.Size)
	}
	winSpec(s, list)
	v, err := c.w.RMA.Create(c.core, *s)
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	return newWindow(c, v, s), nil
}
