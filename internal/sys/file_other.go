//go:build !linux

package sys

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
)

func inMemory(int) bool { return false }

// openSeekable opens a file that is no directory and has offsets.
func openSeekable(path string, flag int, perm os.FileMode) (*os.File, error) {
	if i, err := os.Stat(path); err == nil {
		switch mode := i.Mode(); {
		case mode.IsDir():
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
		case mode&(os.ModeNamedPipe|os.ModeSocket) != 0:
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.ESPIPE}
		}
	}
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekCurrent); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// FileVectors is the largest number of slices that ReadVectors and WriteVectors take.
const FileVectors = 1024

// ReadAt reads into b from offset off. It returns 0 at the end of the file.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// WriteAt writes b at offset off.
func (f *File) WriteAt(b []byte, off int64) (int, error) { return f.f.WriteAt(b, off) }

// ReadVectors reads from offset off into the first slice with bytes.
func (f *File) ReadVectors(list [][]byte, off int64) (int, error) {
	for _, b := range list {
		if len(b) > 0 {
			return f.ReadAt(b, off)
		}
	}
	return 0, nil
}

// WriteVectors writes the first slice with bytes at offset off.
func (f *File) WriteVectors(list [][]byte, off int64) (int, error) {
	for _, b := range list {
		if len(b) > 0 {
			return f.WriteAt(b, off)
		}
	}
	return 0, nil
}

// Allocate makes the file at least size bytes long.
func (f *File) Allocate(size int64) error {
	if have, err := f.Size(); err != nil || have >= size {
		return err
	}
	return f.Truncate(size)
}

// Lock is not available on this platform.
func (f *File) Lock(off, n int64, shared bool) error {
	return fmt.Errorf("locks of open files on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Unlock is not available on this platform.
func (f *File) Unlock(off, n int64) error { return f.Lock(off, n, false) }

// Identity is not available on this platform: all files have the same.
func (f *File) Identity() (device, number uint64, err error) { return 0, 0, nil }

// Advise is not available on this platform: the kernel decides by itself.
func (f *File) Advise(sequential, random bool) {}

// Birth is not available on this platform.
func (f *File) Birth() (ns int64, ok bool) { return 0, false }

// LimitOfSize finds no limit.
func LimitOfSize() (n uint64, ok bool) { return 0, false }
