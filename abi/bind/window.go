package bind

import (
	"math"
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// slice returns size bytes of memory of C at an address; an empty slice keeps the address. It
// reports whether such memory can exist.
func slice(address uintptr, size int64) (mem []byte, ok bool) {
	p := pointer(address)
	switch {
	case size < 0 || uintptr(size) > math.MaxUint64-address:
		return nil, false
	case p == nil:
		return nil, size == 0
	}
	return unsafe.Slice((*byte)(p), size), true
}

// address returns the address of a slice, 0 for nil.
func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

// based returns a new window and the address of the caller's memory in it.
func based(w *mpi.Window, err error) (uintptr, *mpi.Window, error) {
	if err != nil {
		return 0, nil, err
	}
	return address(w.Untyped().Local()), w, nil
}

// winName is MPI_Win_get_name, which also accepts the null handle.
func (l *Lib) winName(a args) error {
	name := "MPI_WIN_NULL"
	if h := a.word(0); h != winNull {
		w, err := l.win(h, call.WinGetName)
		if err != nil {
			return err
		}
		name = w.Name()
	}
	return l.setName(a, call.WinGetName, name)
}

// sharedQuery is MPI_Win_shared_query. For memory that this process cannot map, the size is 0.
func (l *Lib) sharedQuery(a args) error {
	w, err := l.win(a.word(0), call.WinSharedQuery)
	if err == nil {
		err = l.needs(call.WinSharedQuery, a, result{2, "size"}, result{3, "disp_unit"}, result{4, "baseptr"})
	}
	if err != nil {
		return err
	}
	mem, unit, err := w.SharedQuery(a.int(1))
	if err != nil {
		return err
	}
	a.setLong(2, int64(len(mem)))
	a.setCount(3, int64(unit))
	a.setWord(4, address(mem))
	return nil
}

// winFree is MPI_Win_free. The handle also ends if a member of the window has died.
func (l *Lib) winFree(a args) error {
	if err := l.need(call.WinFree, a, "win", 0); err != nil {
		return err
	}
	w, err := l.win(*(*handle)(a.result(0)), call.WinFree)
	if err != nil {
		return err
	}
	err = w.Free()
	if err == nil || code(err) == int(mpi.ErrProcFailed) {
		a.finish(0, winNull, l.dropWin)
	}
	return err
}

// sliceFor returns size bytes at an address. Errors are raised on the window.
func (l *Lib) sliceFor(w *mpi.Window, by call.Number, base uintptr, size int64) ([]byte, error) {
	mem, ok := slice(base, size)
	switch {
	case size < 0:
		return nil, l.failWin(w, mpi.ErrSize, by, "size of %d bytes is negative", size)
	case !ok:
		return nil, l.failWin(w, mpi.ErrArg, by, "%d bytes at address %#x, which is not valid", size, base)
	}
	return mem, nil
}

// attach is MPI_Win_attach.
func (l *Lib) attach(w *mpi.Window, base uintptr, size int64) error {
	mem, err := l.sliceFor(w, call.WinAttach, base, size)
	if err != nil {
		return err
	}
	return mpi.Attach(w, mem)
}

// detach is MPI_Win_detach, which identifies memory by its address.
func (l *Lib) detach(w *mpi.Window, base uintptr) error {
	mem, _ := slice(base, 0)
	return mpi.Detach(w, mem)
}
