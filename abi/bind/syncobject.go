package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// A synchronisation object is the same word in C and in Go, in every process of the job.
var _ = [1]struct{}{}[unsafe.Sizeof(mpi.Sync{})-word]

// syncOf converts a synchronisation object of C.
func syncOf(s uintptr) mpi.Sync { return *(*mpi.Sync)(unsafe.Pointer(&s)) }

// syncsAt returns the array of n synchronisation objects at an address.
func (l *Lib) syncsAt(w *mpi.Window, by call.Number, n int, address uintptr) ([]mpi.Sync, error) {
	p := pointer(address)
	switch {
	case n < 0:
		return nil, l.failWin(w, mpi.ErrCount, by, "%d synchronisation objects", n)
	case n > 0 && p == nil:
		return nil, l.failWin(w, mpi.ErrArg, by, "sync_counters is %#x, which is no address of %d objects", address, n)
	}
	return unsafe.Slice((*mpi.Sync)(p), n), nil
}

// allocSync is MPIX_Win_alloc_sync_objects.
func (l *Lib) allocSync(w *mpi.Window, n int, to uintptr, info *mpi.Info) error {
	list, err := l.syncsAt(w, call.WinAllocSyncObjects, n, to)
	if err != nil {
		return err
	}
	made, err := w.AllocSyncObjects(n, info)
	copy(list, made)
	return err
}

// freeSync is MPIX_Win_free_sync_objects.
func (l *Lib) freeSync(w *mpi.Window, n int, at uintptr) error {
	list, err := l.syncsAt(w, call.WinFreeSyncObjects, n, at)
	if err != nil {
		return err
	}
	return w.FreeSyncObjects(list)
}
