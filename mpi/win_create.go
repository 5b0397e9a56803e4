package mpi

import (
	"math"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/rma"
)

// WinCreate makes a window over mem, which the members of c can then access. Members may pass
// slices of any lengths and types. Displacements are in elements of T. mem does not move until
// the window is freed. Processes of the node access memory of AllocMem directly; access to other
// memory costs them a system call. Windows may overlap, but accumulates by two different windows
// are not atomic with each other.
//
// If one member fails, all fail, with the class of its error. ErrType if T contains pointers.
// Collective over c.
//
// C: MPI_Win_create, section 12.2.1.
func WinCreate[T any](c *Comm, mem []T, hints ...WinHint) (Win[T], error) {
	unit, err := unitOf[T]()
	s := rma.Spec{Flavor: rma.Created, DispUnit: unit, Refused: err}
	if err == nil {
		s.Mem = memory(mem)
	}
	w, failed := c.newWindow(call.WinCreate, &s, hints)
	return Win[T]{w}, failed
}

// WinAllocate makes a window over new memory for n elements of T in this process, which Local
// returns. The memory is zero, begins at a multiple of 64 bytes, or of the value of
// MinimumAlignment, and is freed with the window. Members may pass different n. Processes of the
// node access it directly.
//
// ErrSize if n is negative; ErrNoMem, at once, if there is not enough memory. Collective over c:
// see WinCreate.
//
// C: MPI_Win_allocate, section 12.2.2.
func WinAllocate[T any](c *Comm, n int, hints ...WinHint) (Win[T], error) {
	return allocate[T](c, call.WinAllocate, rma.Allocated, n, hints)
}

// WinAllocateShared is WinAllocate of memory that all members can access with loads and stores;
// Shared returns the memory of each member. ErrRMAShared unless all members are on one host, in one
// job or in several: see SplitType. The memory of a rank begins where that of the previous rank ends, unless
// SharedNoncontig is true.
//
// C: MPI_Win_allocate_shared, section 12.2.3.
func WinAllocateShared[T any](c *Comm, n int, hints ...WinHint) (Win[T], error) {
	return allocate[T](c, call.WinAllocateShared, rma.Shared, n, hints)
}

func allocate[T any](c *Comm, k call.Number, f rma.Flavor, n int, hints []WinHint) (Win[T], error) {
	unit, err := unitOf[T]()
	s := rma.Spec{Flavor: f, DispUnit: unit, Size: int64(n) * unit, Refused: err}
	switch {
	case err != nil:
	case n < 0:
		s.Refused = class.Errorf(class.Size, "number of elements is %d, which is negative", n)
	case int64(n) > math.MaxInt64/unit:
		s.Refused = class.Errorf(class.NoMem, "%d elements of %d bytes", n, unit)
	}
	w, failed := c.newWindow(k, &s, hints)
	return Win[T]{w}, failed
}

// unitOf is the displacement unit of a window of elements of T. It is 1 for elements without
// bytes, since 0 cannot be a unit.
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

// WinCreate is the function WinCreate for bytes: displacements are in units of unit bytes.
// ErrDisp if unit is less than 1.
//
// C: MPI_Win_create and MPI_Win_create_c, section 12.2.1.
func (c *Comm) WinCreate(mem []byte, unit int, hints ...WinHint) (*Window, error) {
	return c.newWindow(call.WinCreate, &rma.Spec{Flavor: rma.Created, Mem: mem, DispUnit: int64(unit)}, hints)
}

// WinCreatePtr is WinCreate for size bytes at p, memory that is not a Go slice, such as memory
// of C. The caller makes sure that all of it exists until the window is freed. ErrSize if size
// is negative or exceeds the address space; ErrArg if p is nil and size is not 0.
//
// C: MPI_Win_create and MPI_Win_create_c, section 12.2.1.
func (c *Comm) WinCreatePtr(p unsafe.Pointer, size int64, unit int, hints ...WinHint) (*Window, error) {
	s := rma.Spec{Flavor: rma.Created, DispUnit: int64(unit)}
	switch {
	case size < 0 || uintptr(size) > -uintptr(p)-1 && p != nil:
		s.Refused = class.Errorf(class.Size, "%d bytes at address %p: the size is negative or exceeds the address space", size, p)
	case size > 0 && uintptr(p) < mem.FirstPage:
		s.Refused = class.Errorf(class.Arg, "%d bytes at address %p, which is not valid", size, p)
	case p != nil:
		s.Mem = unsafe.Slice((*byte)(p), size)
	}
	return c.newWindow(call.WinCreate, &s, hints)
}

// WinAllocate is the function WinAllocate for size bytes: see Comm.WinCreate.
//
// C: MPI_Win_allocate and MPI_Win_allocate_c, section 12.2.2.
func (c *Comm) WinAllocate(size int64, unit int, hints ...WinHint) (*Window, error) {
	return c.newWindow(call.WinAllocate, &rma.Spec{Flavor: rma.Allocated, Size: size, DispUnit: int64(unit)}, hints)
}

// WinAllocateShared is the function WinAllocateShared for size bytes: see Comm.WinCreate.
//
// C: MPI_Win_allocate_shared and MPI_Win_allocate_shared_c, section 12.2.3.
func (c *Comm) WinAllocateShared(size int64, unit int, hints ...WinHint) (*Window, error) {
	return c.newWindow(call.WinAllocateShared, &rma.Spec{Flavor: rma.Shared, Size: size, DispUnit: int64(unit)}, hints)
}

// WinCreateDynamic makes a window without memory, to which members Attach memory later.
// Displacements are addresses in the target, in bytes: see Address. Collective over c.
//
// C: MPI_Win_create_dynamic, section 12.2.4.
func (c *Comm) WinCreateDynamic(hints ...WinHint) (*Window, error) {
	return c.newWindow(call.WinCreateDynamic, &rma.Spec{Flavor: rma.Dynamic, DispUnit: 1}, hints)
}

// newWindow makes a window. If the arguments of this member are invalid, it still takes part in
// the collective to tell the others, which would otherwise wait for it.
func (c *Comm) newWindow(k call.Number, s *rma.Spec, list []WinHint) (*Window, error) {
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
		s.Refused = class.Errorf(class.Disp, "displacement unit of %d bytes, want at least 1", s.DispUnit)
	case s.Size < 0:
		s.Refused = class.Errorf(class.Size, "size of %d bytes is negative", s.Size)
	}
	o := winSpec(s, list)
	defer c.core.Begin(k)()
	v, err := c.w.RMA.Create(c.core, *s)
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	w := newWindow(c, v, s)
	w.asserted.set(o.kinds, c.self.kinds)
	return w, nil
}
