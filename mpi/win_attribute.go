package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/rma"
)

// WinFlavor is the call that made a window.
//
// C: MPI_WIN_FLAVOR_CREATE and so on, section 12.2.6.
type WinFlavor int

// The flavors.
//
// C: MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED, section 12.2.6.
const (
	WinFlavorCreate   WinFlavor = 311
	WinFlavorAllocate WinFlavor = 312
	WinFlavorDynamic  WinFlavor = 313
	WinFlavorShared   WinFlavor = 314
)

// String is the name of the flavor.
func (f WinFlavor) String() string {
	switch f {
	case WinFlavorCreate:
		return "create"
	case WinFlavorAllocate:
		return "allocate"
	case WinFlavorDynamic:
		return "dynamic"
	case WinFlavorShared:
		return "shared"
	}
	return "no flavor"
}

// WinModel is the memory model of a window.
//
// C: MPI_WIN_UNIFIED and MPI_WIN_SEPARATE, section 12.4.
type WinModel int

// The memory models. In WinUnified the memory of a window and the copy that other processes
// access are the same, after a synchronisation by Sync or the end of an epoch; in WinSeparate
// they are two copies.
//
// C: MPI_WIN_UNIFIED and MPI_WIN_SEPARATE, section 12.4.
const (
	WinUnified  WinModel = 321
	WinSeparate WinModel = 322
)

// Local is the window memory of this process, nil for a dynamic window.
//
// C: attribute MPI_WIN_BASE, section 12.2.6.
func (u Untyped) Local() []byte {
	if u.Window == nil || u.c.freed.Load() {
		return nil
	}
	return u.v.Local()
}

// Local is the window memory of this process, as elements of T.
//
// C: attribute MPI_WIN_BASE, section 12.2.6.
func (w Win[T]) Local() []T { return elements[T](w.Untyped().Local()) }

// Bytes is the size of the window memory of this process, in bytes.
//
// C: attribute MPI_WIN_SIZE, section 12.2.6.
func (w *Window) Bytes() int64 { return int64(len(w.Untyped().Local())) }

// DispUnit is the unit, in bytes, of displacements into the memory of this process.
//
// C: attribute MPI_WIN_DISP_UNIT, section 12.2.6.
func (w *Window) DispUnit() int {
	if w == nil {
		return 0
	}
	return int(w.v.Unit())
}

// Flavor is the call that made the window.
//
// C: attribute MPI_WIN_CREATE_FLAVOR, section 12.2.6.
func (w *Window) Flavor() WinFlavor {
	if w == nil {
		return 0
	}
	return [...]WinFlavor{0, rma.Created: WinFlavorCreate, rma.Allocated: WinFlavorAllocate, rma.Dynamic: WinFlavorDynamic, rma.Shared: WinFlavorShared}[w.v.Flavor()]
}

// Model is the memory model. It is always WinUnified.
//
// C: attribute MPI_WIN_MODEL, section 12.2.6.
func (w *Window) Model() WinModel { return WinUnified }

// SharedQuery returns the window memory of a rank, mapped into this process, so that loads and
// stores access the memory of that rank; and its displacement unit in bytes. ProcNull means the
// lowest rank with memory, or rank 0 if there is none. Memory of 0 bytes has its address: with a contiguous
// layout that behind the memory of the rank before. The memory is nil if this process cannot map it: on another host, or
// not allocated by a window or AllocMem. ErrRMAFlavor for a dynamic window.
//
// C: MPI_Win_shared_query, section 12.2.3.
func (w *Window) SharedQuery(rank int) (mem []byte, unit int, err error) {
	return w.query(call.WinSharedQuery, rank)
}

// Shared is the window memory of a rank, as elements of T: see SharedQuery.
//
// C: MPI_Win_shared_query, section 12.2.3.
func (w Win[T]) Shared(rank int) ([]T, error) {
	mem, _, err := w.query(call.Shared, rank)
	if err != nil {
		return nil, err
	}
	return elements[T](mem), nil
}

func (w *Window) query(k call.Number, rank int) ([]byte, int, error) {
	if err := w.usable(k); err != nil {
		return nil, 0, err
	}
	mem, unit, err := w.v.Query(rank)
	if err != nil {
		return nil, 0, w.failed(err, k, Undefined)
	}
	return mem, int(unit), nil
}

// elements converts memory to whole elements of T; nil if it is not aligned for T, or T contains
// pointers.
func elements[T any](mem []byte) []T {
	var e T
	size := int(unsafe.Sizeof(e))
	if _, err := golang[T](); err != nil || size == 0 || len(mem) < size {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(p)%unsafe.Alignof(e) != 0 {
		return nil
	}
	return unsafe.Slice((*T)(p), len(mem)/size)
}
