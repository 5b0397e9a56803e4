package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// A synchronisation object is the same word in C and in Go, in every process of the job.
var _ = [1]struct{}{}[unsafe.Sizeof(mpi.Sync{})-word]

// syncOf converts a synchronisation object of C.
func syncOf(s uintptr) mpi.Sync { return *(*mpi.Sync)(unsafe.Pointer(&s)) }

// syncsAt returns the array of n synchronisation objects at an address.
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

// freeSync is MPIX_Win_free_sync_objects. It also ends the numbers of the objects in Fortran.
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

// syncToInt is MPIX_Sync_c2f. It returns a number for a slot of the table syncs, 0 for the null
// object.
func (l *Lib) syncToInt(s uintptr) int {
	if s == 0 {
		return 0
	}
	return int(l.syncs.toInt(l.syncs.put(syncOf(s))))
}

// syncFromInt is MPIX_Sync_f2c. For a number without object it returns an invalid object.
func (l *Lib) syncFromInt(n int32) uintptr {
	h := l.syncs.fromInt(n)
	if s, ok := l.syncs.get(h); ok {
		return *(*uintptr)(unsafe.Pointer(&s))
	}
	return h
}
