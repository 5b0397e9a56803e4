package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// memhandleCreate is MPIX_Memhandle_create: it stores the handle and returns its size.
func (l *Lib) memhandleCreate(w *mpi.Window, base uintptr, size int64, info *mpi.Info, to uintptr) (int, error) {
	mem, err := l.sliceFor(w, call.MemhandleCreate, base, size)
	if err != nil {
		return 0, err
	}
	p := pointer(to)
	if p == nil {
		return 0, l.failWin(w, mpi.ErrArg, call.MemhandleCreate, "memhandle is %#x, which is no address of a result", to)
	}
	h, err := mpi.MemhandleCreate(w, mem, info)
	if err != nil {
		return 0, err
	}
	return copy(unsafe.Slice((*byte)(p), len(h)), h), nil
}

// memhandleAt returns the memory handle at an address of C.
func (l *Lib) memhandleAt(w *mpi.Window, by call.Number, at uintptr) ([]byte, error) {
	p := pointer(at)
	if p == nil {
		return nil, l.failWin(w, mpi.ErrArg, by, "memhandle is %#x, which is no address", at)
	}
	return unsafe.Slice((*byte)(p), mpi.MemoryHandleSize), nil
}

// memhandleRelease is MPIX_Memhandle_release.
func (l *Lib) memhandleRelease(w *mpi.Window, at uintptr) error {
	h, err := l.memhandleAt(w, call.MemhandleRelease, at)
	if err != nil {
		return err
	}
	return w.MemhandleRelease(h)
}

// winFromMemhandle is MPIX_Win_from_memhandle.
func (l *Lib) winFromMemhandle(w *mpi.Window, at uintptr, size int64, unit, target int, info *mpi.Info) (*mpi.Window, error) {
	h, err := l.memhandleAt(w, call.WinFromMemhandle, at)
	if err != nil {
		return nil, err
	}
	return engine.WinFromMemhandle(w, h, size, unit, target, info)
}
