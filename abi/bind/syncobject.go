package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// A synchronisation object is the same word in C and in Go, wherever in the job.
var _ = [1]struct{}{}[unsafe.Sizeof(mpi.Sync{})-word]

// syncOf is a synchronisation object of C.
func syncOf(s uintptr) mpi.Sync { return *(*mpi.Sync)(unsafe.Pointer(&s)) }

// syncsAt is an array of them.
func (l *Lib) syncsAt(w *mpi.Window, call string, n int, address uintptr) ([]mpi.Sync, error) {
	p := pointer(address)
	switch {
	case n < 0:
		return nil, l.failWin(w, mpi.ErrCount, call, "%d synchronisation objects", n)
	case n > 0 && p == nil:
		return nil, l.failWin(w, mpi.ErrArg, call, "sync_counters is %#x, which is no address of %d objects", address, n)
	}
	return unsafe.Slice((*mpi.Sync)(p), n), nil
}

// allocSync is MPIX_Win_alloc_sync_objects.
func (l *Lib) allocSync(w *mpi.Window, n int, to uintptr, info *mpi.Info) error {
	list, err := l.syncsAt(w, "MPIX_Win_alloc_sync_objects", n, to)
	if err != nil {
		return err
	}
	made, err := w.AllocSyncObjects(n, info)
	copy(list, made)
	return err
}

// freeSync is MPIX_Win_free_sync_objects. Numbers that Fortran has of them end, too.
func (l *Lib) freeSync(w *mpi.Window, n int, at uintptr) error {
	list, err := l.syncsAt(w, "MPIX_Win_free_sync_objects", n, at)
	if err != nil {
		return err
	}
	was := append([]mpi.Sync(nil), list...)
	if err := w.FreeSyncObjects(list); err != nil {
		return err
	}
	for _, s := range was {
		if h, ok := l.syncs.handles.Load(s); ok {
			l.syncs.drop(h.(handle))
		}
	}
	return nil
}

// syncToInt is MPIX_Sync_c2f: the number of a place in a table, 0 for the null object.
func (l *Lib) syncToInt(s uintptr) int {
	if s == 0 {
		return 0
	}
	return int(l.syncs.toInt(l.syncs.put(syncOf(s))))
}

// syncFromInt is MPIX_Sync_f2c: of a number that stands for none, what is none.
func (l *Lib) syncFromInt(n int32) uintptr {
	h := l.syncs.fromInt(n)
	if s, ok := l.syncs.get(h); ok {
		return *(*uintptr)(unsafe.Pointer(&s))
	}
	return h
}
