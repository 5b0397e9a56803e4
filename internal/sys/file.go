package sys

import "os"

// File is a file on a disk, accessed at offsets. Each method is one system call, repeated only if a
// signal has interrupted it: reads and writes may transfer less than they are asked for.
type File struct {
	f    *os.File
	fd   int  // of f, which lives as long as this File
	near bool // short accesses do not wait: see shortAccess
}

// OpenFile is os.OpenFile for files that are accessed at offsets. Others are errors: EISDIR for a directory, and ESPIPE
// for a pipe, a socket or a terminal. It does not wait for the other end of a pipe.
func OpenFile(path string, flag int, perm os.FileMode) (*File, error) {
	f, err := openSeekable(path, flag, perm)
	if err != nil {
		return nil, err
	}
	fd := int(f.Fd())
	return &File{f, fd, inMemory(fd)}, nil
}

// Descriptor is the descriptor of the operating system.
func (f *File) Descriptor() int { return f.fd }

// Sync returns when what has been written is on the disk.
func (f *File) Sync() error { return f.f.Sync() }

// Size is the size in bytes.
func (f *File) Size() (int64, error) {
	i, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return i.Size(), nil
}

// Truncate sets the size in bytes.
func (f *File) Truncate(size int64) error { return f.f.Truncate(size) }

// Close closes the file. Locks of this File end.
func (f *File) Close() error { return f.f.Close() }
