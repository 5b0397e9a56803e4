package shmfmt

import (
	"sync/atomic"
	"unsafe"
)

// File is what C reads of a file while it has a handle of it, in memory outside of the Go heap (package
// offheap). Go writes it; other processes do not see it.
type File struct {
	// Open says which accesses C may make by itself: FileReads, FileWrites. It is 0 while Go changes
	// the other fields. C loads it before it reads them.
	Open       atomic.Uint32
	Descriptor int32 // of the operating system
	First      int64 // byte of the file at which the data of the view begin; they are contiguous
	Unit       int64 // bytes of an elementary type
	Most       int64 // bytes of data in the view
	Limit      int64 // bytes of the file that the process may write; 0: no limit
}

// Bits of File.Open.
const (
	FileReads  = 1
	FileWrites = 2
)

// FileLayout returns the layout of File.
func FileLayout() []Field {
	var f File
	return []Field{
		{"FILE_OPEN", int64(unsafe.Offsetof(f.Open))},
		{"FILE_DESCRIPTOR", int64(unsafe.Offsetof(f.Descriptor))},
		{"FILE_FIRST", int64(unsafe.Offsetof(f.First))},
		{"FILE_UNIT", int64(unsafe.Offsetof(f.Unit))},
		{"FILE_MOST", int64(unsafe.Offsetof(f.Most))},
		{"FILE_LIMIT", int64(unsafe.Offsetof(f.Limit))},
		{"FILE_READS", FileReads},
		{"FILE_WRITES", FileWrites},
	}
}
