package sys

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FileVectors is the largest number of slices that ReadVectors and WriteVectors take.
const FileVectors = 1024 // IOV_MAX

// shortAccess is the length in bytes up to which an access of a file system in memory takes at most some 100
// microseconds and does not wait. The scheduler is not told of such a system call, which takes 60 ns less
// then; and from 20 microseconds on, it would give the processor to another thread, which takes 10 of 75
// microseconds for 1 MiB. A collection of garbage waits for the call.
const shortAccess = 1 << 20

// inMemory reports whether a file is in a file system without a device.
func inMemory(fd int) bool {
	var s unix.Statfs_t
	err := unix.Fstatfs(fd, &s)
	return err == nil && (s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC)
}

// openSeekable opens a file that is no directory and has offsets. O_NONBLOCK keeps open from waiting for the other end of
// a pipe; then it is cleared.
func openSeekable(path string, flag int, perm os.FileMode) (*os.File, error) {
	var fd int
	var err error
	for {
		fd, err = unix.Open(path, flag|unix.O_CLOEXEC|unix.O_NONBLOCK, uint32(perm.Perm()))
		if err != unix.EINTR {
			break
		}
	}
	if err == unix.ENXIO { // of a socket, and of a pipe that nobody reads
		var s unix.Stat_t
		if unix.Stat(path, &s) == nil && (s.Mode&unix.S_IFMT == unix.S_IFIFO || s.Mode&unix.S_IFMT == unix.S_IFSOCK) {
			err = unix.ESPIPE
		}
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	err = seekable(fd)
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// seekable returns the error of accesses at offsets.
func seekable(fd int) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EISDIR
	}
	_, err := unix.Seek(fd, 0, unix.SEEK_CUR)
	return err
}

// access is pread64 or pwrite64.
func (f *File) access(trap uintptr, b []byte, off int64) (int, error) {
	n, _, err := syscall.RawSyscall6(trap, uintptr(f.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(off), 0, 0)
	if err != 0 {
		return -1, err
	}
	return int(n), nil
}

// ReadAt reads into b from offset off. It returns 0 at the end of the file.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	if f.near && !Race && len(b) <= shortAccess {
		if n, err := f.access(unix.SYS_PREAD64, b, off); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
	for {
		if n, err := syscall.Pread(f.fd, b, off); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// WriteAt writes b at offset off.
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	if f.near && !Race && len(b) <= shortAccess {
		if n, err := f.access(unix.SYS_PWRITE64, b, off); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
	for {
		if n, err := syscall.Pwrite(f.fd, b, off); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// ReadVectors reads from offset off into one slice after the other.
func (f *File) ReadVectors(list [][]byte, off int64) (int, error) {
	for {
		if n, err := unix.Preadv(f.fd, list, off); err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// WriteVectors writes one slice after the other at offset off.
func (f *File) WriteVectors(list [][]byte, off int64) (int, error) {
	for {
		if n, err := unix.Pwritev(f.fd, list, off); err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// Allocate makes sure that the first size bytes have room on the disk, and that the file is at least
// as long.
func (f *File) Allocate(size int64) error {
	for {
		err := unix.Fallocate(f.fd, 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP):
			return f.allocateByWriting(size)
		default:
			return err
		}
	}
}

// allocateByWriting writes what the first size bytes contain again, for file systems that do not
// allocate otherwise.
func (f *File) allocateByWriting(size int64) error {
	const piece = 1 << 20
	buf := make([]byte, piece)
	for at := int64(0); at < size; {
		b := buf[:min(piece, size-at)]
		clear(b)
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		n, err := f.WriteAt(b, at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// Advise tells the kernel how this File is read: from the beginning to the end, so that reading ahead pays,
// or at random, so that it does not. It is a hint: errors do not matter.
func (f *File) Advise(sequential, random bool) {
	advice := unix.FADV_NORMAL
	switch {
	case random:
		advice = unix.FADV_RANDOM
	case sequential:
		advice = unix.FADV_SEQUENTIAL
	}
	_ = unix.Fadvise(f.fd, 0, 0, advice)
}

// Lock waits until no other File has a conflicting lock on the bytes [off, off+n), and locks them,
// for this File alone or shared with others that only read. The lock is of the open file
// description (F_OFD_SETLKW): it excludes other Files of this process and of other processes, and
// ends with the File.
func (f *File) Lock(off, n int64, shared bool) error {
	kind := int16(unix.F_WRLCK)
	if shared {
		kind = unix.F_RDLCK
	}
	return f.lock(kind, off, n)
}

// Unlock releases the lock on the bytes [off, off+n).
func (f *File) Unlock(off, n int64) error { return f.lock(unix.F_UNLCK, off, n) }

func (f *File) lock(kind int16, off, n int64) error {
	for {
		err := unix.FcntlFlock(uintptr(f.fd), unix.F_OFD_SETLKW, &unix.Flock_t{Type: kind, Start: off, Len: n})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Identity returns numbers of the device and of the file on it. Devices have numbers of their own on
// every host.
func (f *File) Identity() (device, number uint64, err error) {
	var s unix.Stat_t
	if err := unix.Fstat(f.fd, &s); err != nil {
		return 0, 0, err
	}
	return uint64(s.Dev), s.Ino, nil
}

// Birth is the time at which the file was made, in nanoseconds since 1970; ok is false where the file system does
// not tell. It never changes, and is the same on all hosts that share the file system.
func (f *File) Birth() (ns int64, ok bool) {
	var s unix.Statx_t
	err := unix.Statx(f.fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return 0, false
	}
	return s.Btime.Sec*1e9 + int64(s.Btime.Nsec), true
}

// LimitOfSize returns how long files may become that this process writes; ok is false if there is no
// limit. A write that begins beyond it raises SIGXFSZ, which ends a program in C.
func LimitOfSize() (n uint64, ok bool) { return limit(unix.RLIMIT_FSIZE) }
