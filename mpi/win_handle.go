package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
)

// MaxMemoryHandleSize is an upper bound of the length in bytes of memory handles, for buffers
// that receive them.
//
// C: MPIX_MAX_MEMORY_HANDLE_SIZE, an extension.
const MaxMemoryHandleSize = rma.HandleMax

// MemoryHandleSize is the length in bytes of the memory handles of this version of Halo, for
// callers that have only the address of a handle.
//
// C: the argument memhandle_size of MPIX_Memhandle_create, an extension.
const MemoryHandleSize = memhandle.Size

// MemhandleCreate makes mem accessible to the members of a dynamic window that have the memory
// handle that it returns. The handle is a sequence of bytes without other meaning. The program
// sends it like other bytes, and a process that has it makes a window of the memory by
// WinFromMemhandle. It is local. mem may be any memory; processes of the node access memory of
// AllocMem directly. It need not be attached, and does not move until MemhandleRelease.
//
// Attach is for memory that is added and removed often; memory handles are for memory that other
// processes use for longer: accesses need not look up the region.
//
// Errors: ErrRMAFlavor if the window is not dynamic; ErrRMASync if it was made from a memory
// handle; ErrType if T contains pointers; ErrNoMem if there is no room for another handle. There
// are no hints so far.
//
// C: MPIX_Memhandle_create, an extension.
func MemhandleCreate[T any](w *Window, mem []T, info *Info) ([]byte, error) {
	if err := w.usable(call.MemhandleCreate); err != nil {
		return nil, err
	}
	checkKeys(w.c, call.MemhandleCreate, info)
	var handle []byte
	_, err := golang[T]()
	if err == nil {
		handle, err = w.v.AppendHandle(nil, memory(mem))
	}
	if err != nil {
		return nil, w.failed(err, call.MemhandleCreate, Undefined)
	}
	return handle, nil
}

// MemhandleRelease ends the access to the memory of a handle that this process made. The
// processes that have made windows of it must have completed their operations, and have told
// this process so. Later operations return ErrRMARange, or the flush after them does, and access
// nothing. It is local.
//
// ErrRMAAttach if the handle was released before, ErrRank if it is of another member, ErrWin if
// it is of another window, and ErrArg if it is not a memory handle.
//
// C: MPIX_Memhandle_release, an extension.
func (w *Window) MemhandleRelease(handle []byte) error {
	if err := w.usable(call.MemhandleRelease); err != nil {
		return err
	}
	if err := w.v.ReleaseHandle(handle); err != nil {
		return w.failed(err, call.MemhandleRelease, Undefined)
	}
	return nil
}

// WinFromMemhandle makes a window of the memory of a handle, in the member target of the dynamic
// window parent. Displacements are in elements of T from the beginning of the memory. It is
// local, and so is its Free, which completes pending operations. Both cost less than a
// microsecond, and accesses cost the same as in a window of WinAllocate. Bytes after the handle
// are ignored, so that it may be received into a buffer of MaxMemoryHandleSize bytes.
//
// The window uses the locks of parent: while parent has locked target, the window accepts puts,
// gets, accumulates and the like, and flushes, with target as the only rank; other ranks are
// ErrRank. Other synchronisation calls are ErrRMASync. Hints, the error handler and the checks
// of epochs are those of parent; attributes are not.
//
// ErrRMARange if the handle has been released: from this call if the target is on the same host,
// else from the flush after the first operation. ErrRank if the handle is of another member than
// target, ErrWin if it is of another window, ErrArg if it is not a memory handle.
//
// C: MPIX_Win_from_memhandle, an extension.
func WinFromMemhandle[T any](parent *Window, handle []byte, target int, hints ...WinHint) (Win[T], error) {
	if err := parent.usable(call.WinFromMemhandle); err != nil {
		return Win[T]{}, err
	}
	unit, err := unitOf[T]()
	if err != nil {
		return Win[T]{}, parent.failed(err, call.WinFromMemhandle, Undefined)
	}
	w, failed := parent.fromMemhandle(handle, -1, unit, target, hints)
	return Win[T]{w}, failed
}

// WinFromMemhandle is the function WinFromMemhandle in the form of C: for the first size bytes
// of the memory, with displacements in units of unit bytes. ErrSize if size is negative or
// larger than the memory of the handle; ErrDisp if unit is less than 1.
//
// C: MPIX_Win_from_memhandle, an extension.
func (internals) WinFromMemhandle(w *Window, handle []byte, size int64, unit, target int, info *Info) (*Window, error) {
	if err := w.usable(call.WinFromMemhandle); err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, w.failed(class.Errorf(class.Size, "size of %d bytes is negative", size), call.WinFromMemhandle, target)
	}
	var hints []WinHint
	if info != nil {
		hints = []WinHint{info}
	}
	return w.fromMemhandle(handle, size, int64(unit), target, hints)
}

// handleWindow is a window of a memory handle, and the communicator that stands for it, in one
// allocation.
type handleWindow struct {
	Window
	comm Comm
	name string // empty until SetName
}

func (w *Window) fromMemhandle(handle []byte, size, unit int64, target int, hints []WinHint) (*Window, error) {
	v, err := w.v.FromHandle(handle, size, unit, target)
	if err != nil {
		return nil, w.failed(err, call.WinFromMemhandle, target)
	}
	n := &handleWindow{Window: Window{v: v, w: w.w, align: w.align}, comm: Comm{w: w.w, core: w.c.core.Unnamed(), self: w.c.self}}
	n.c, n.comm.win = &n.comm, &n.Window
	if len(hints) > 0 {
		checkKeys(w.c, call.WinFromMemhandle, hints...)
		n.setHints(v, hints)
	}
	n.comm.core.Name.Store(&n.name)
	n.comm.handler.Store(w.c.handler.Load())
	return &n.Window, nil
}
