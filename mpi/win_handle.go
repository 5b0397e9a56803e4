package mpi

import (
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
)

// MaxMemoryHandleSize is the length in bytes that no memory handle exceeds: room for one that
// is to be received.
//
// C: MPIX_MAX_MEMORY_HANDLE_SIZE, an extension.
const MaxMemoryHandleSize = rma.HandleMax

// MemoryHandleSize is the length in bytes of the memory handles of this version of Halo, for
// who has but their address.
//
// C: the argument memhandle_size of MPIX_Memhandle_create, an extension.
const MemoryHandleSize = memhandle.Size

// MemhandleCreate opens mem to those members of a dynamic window who have the memory handle
// that it returns: some bytes that mean nothing but that. They are sent as any bytes are, and
// whoever has them makes a window of the memory, by WinFromMemhandle. It is local. mem may be
// any memory; that of AllocMem is accessed directly by the processes of the node. It need not
// be attached, and stays where it is until MemhandleRelease.
//
// What Attach is for memory that comes and goes behind one address, this is for memory
// that others use for longer: its accesses need not look up where it is.
//
// A window that is not dynamic is ErrRMAFlavor, that of a memory handle ErrRMASync, a T that
// holds pointers ErrType, and no room for another handle ErrNoMem. There are no hints so far.
//
// C: MPIX_Memhandle_create, an extension.
func MemhandleCreate[T any](w *Window, mem []T, info *Info) ([]byte, error) {
	if err := w.usable(callMemhandleCreate); err != nil {
		return nil, err
	}
	checkKeys(w.c, callMemhandleCreate, info)
	var handle []byte
	_, err := golang[T]()
	if err == nil {
		handle, err = w.v.AppendHandle(nil, memory(mem))
	}
	if err != nil {
		return nil, w.failed(err, callMemhandleCreate, Undefined)
	}
	return handle, nil
}

// MemhandleRelease closes the memory that a handle of this process names. All who have made
// windows of it must be through with their operations, and have said so. Later ones are
// ErrRMARange, of the operation or of the flush behind it, and touch nothing. It is local.
//
// Releasing a handle twice is ErrRMAAttach; a handle of another member is ErrRank, one of
// another window ErrWin, and what is no memory handle ErrArg.
//
// C: MPIX_Memhandle_release, an extension.
func (w *Window) MemhandleRelease(handle []byte) error {
	if err := w.usable(callMemhandleRelease); err != nil {
		return err
	}
	if err := w.v.ReleaseHandle(handle); err != nil {
		return w.failed(err, callMemhandleRelease, Undefined)
	}
	return nil
}

// WinFromMemhandle makes a window of the memory that a handle names, in the member target of
// the dynamic window parent: displacements count elements of T from its beginning. It is
// local, and so is its Free, which completes what is under way; both cost less than a
// microsecond, and accesses what they do in a window of WinAllocate. Bytes behind the handle
// do not matter, so that it may be received into MaxMemoryHandleSize bytes.
//
// Locks are the parent's: while parent has locked target, the window takes puts, gets,
// accumulates and what is like them, and flushes, to target alone; another rank is ErrRank.
// All else that synchronises is ErrRMASync. Hints, the error handler and the checks of epochs are
// those of the parent, attributes are not.
//
// A handle that has been released is ErrRMARange: of this call if the target is on the same
// host, else of the flush behind the first operation. A handle of another member than target is
// ErrRank, one of another window ErrWin, what is no memory handle ErrArg.
//
// C: MPIX_Win_from_memhandle, an extension.
func WinFromMemhandle[T any](parent *Window, handle []byte, target int, hints ...WinHint) (Win[T], error) {
	if err := parent.usable(callWinFromMemhandle); err != nil {
		return Win[T]{}, err
	}
	unit, err := unitOf[T]()
	if err != nil {
		return Win[T]{}, parent.failed(err, callWinFromMemhandle, Undefined)
	}
	w, failed := parent.fromMemhandle(handle, -1, unit, target, hints)
	return Win[T]{w}, failed
}

// WinFromMemhandle is the function WinFromMemhandle as C has it: for the first size bytes of the memory;
// displacements count units of that many bytes. A size that is negative, or more than the
// handle names, is ErrSize, a unit below 1 ErrDisp.
//
// C: MPIX_Win_from_memhandle, an extension.
func (internals) WinFromMemhandle(w *Window, handle []byte, size int64, unit, target int, info *Info) (*Window, error) {
	if err := w.usable(callWinFromMemhandle); err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, w.failed(wrong(ErrSize, "size of %d bytes is negative", size), callWinFromMemhandle, target)
	}
	var hints []WinHint
	if info != nil {
		hints = []WinHint{info}
	}
	return w.fromMemhandle(handle, size, int64(unit), target, hints)
}

// handleWindow is a window of a memory handle with the communicator that stands for it, in one
// allocation.
type handleWindow struct {
	Window
	comm Comm
	name string // before SetName: none
}

func (w *Window) fromMemhandle(handle []byte, size, unit int64, target int, hints []WinHint) (*Window, error) {
	v, err := w.v.FromHandle(handle, size, unit, target)
	if err != nil {
		return nil, w.failed(err, callWinFromMemhandle, target)
	}
	n := &handleWindow{Window: Window{v: v, w: w.w, align: w.align}, comm: Comm{w: w.w, core: w.c.core.Unnamed(), self: w.c.self}}
	n.c, n.comm.win = &n.comm, &n.Window
	if len(hints) > 0 {
		checkKeys(w.c, callWinFromMemhandle, hints...)
		n.setHints(v, hints)
	}
	n.comm.core.Name.Store(&n.name)
	n.comm.handler.Store(w.c.handler.Load())
	return &n.Window, nil
}
