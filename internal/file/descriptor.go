package file

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// A call from C to Go takes as long as the shortest accesses of a file in the page cache. Therefore the C
// library makes the system call itself if one is all that an access needs: at an explicit offset, in
// a contiguous view, between accesses to which no lock belongs. It reads a record outside of the Go heap.

// Descriptor is the address of the file's record. It is valid until the file is closed.
func (f *File) Descriptor() uintptr {
	if f.record.Load() == nil {
		f.record.CompareAndSwap(nil, offheap.New[shmfmt.File]())
		f.tell()
	}
	return uintptr(unsafe.Pointer(f.record.Load()))
}

// DescriptorLayout lists the offsets of the fields in the record of a file. The C library is generated
// from it.
func DescriptorLayout() []shmfmt.Field { return shmfmt.FileLayout() }

// tell writes the record, if there is one. Calls that change the view, the atomic mode or whether the file
// is open call it; no access runs at the same time.
func (f *File) tell() {
	r := f.record.Load()
	if r == nil {
		return
	}
	r.Open.Store(0)
	s, ok := f.store.(*sys.File)
	v := f.view.Load()
	if !ok || f.closed.Load() || f.atomic.on.Load() || f.mode.has(Sequential) || v.converts != nil || !v.dense {
		return
	}
	r.Descriptor = int32(s.Descriptor())
	r.First, r.Unit, r.Most, r.Limit = v.first, v.unit, v.most, f.limit
	open := uint32(shmfmt.FileReads | shmfmt.FileWrites)
	switch {
	case f.mode.has(ReadOnly):
		open = shmfmt.FileReads
	case f.mode.has(WriteOnly):
		open = shmfmt.FileWrites
	}
	r.Open.Store(open)
}

// forget ends the use of the record.
func (f *File) forget() {
	if r := f.record.Swap(nil); r != nil {
		r.Open.Store(0)
		offheap.Free(r)
	}
}
