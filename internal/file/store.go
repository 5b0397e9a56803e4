package file

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/halo-mpi/halo/internal/class"
)

// store is the bytes of a file: sys.File, and in tests files that transfer less than they are asked
// for, and that fail. Each method is one system call. A read returns 0 at the end of the file.
type store interface {
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	ReadVectors(list [][]byte, off int64) (int, error)
	WriteVectors(list [][]byte, off int64) (int, error)
	Sync() error
	Size() (int64, error)
	Truncate(size int64) error
	Allocate(size int64) error
	Lock(off, n int64, shared bool) error
	Unlock(off, n int64) error
	Identity() (device, number uint64, err error)
	Close() error
}

// failed is the error of a system call, with what it was to do. It has the class of the error number.
func failed(err error, format string, args ...any) error {
	cause := err
	var path *fs.PathError // of package os: the path is the object of the error already
	if errors.As(err, &path) {
		cause = path.Err
	}
	return &class.Error{Class: classOf(err), Text: fmt.Sprintf(format, args...) + ": " + cause.Error(), Cause: err}
}

// classOf is the class of the error of a system call (MPI-5, 14.7).
func classOf(err error) class.Class {
	var ce *class.Error
	if errors.As(err, &ce) {
		return ce.Class
	}
	var no syscall.Errno
	if !errors.As(err, &no) {
		if errors.Is(err, errors.ErrUnsupported) {
			return class.UnsupportedOperation
		}
		return class.IO
	}
	switch no {
	case syscall.ENOENT:
		return class.NoSuchFile
	case syscall.EEXIST:
		return class.FileExists
	case syscall.EBUSY, syscall.ETXTBSY:
		return class.FileInUse
	case syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP:
		return class.BadFile
	case syscall.EACCES, syscall.EPERM:
		return class.Access
	case syscall.EROFS:
		return class.ReadOnly
	case syscall.ENOSPC:
		return class.NoSpace
	case syscall.EDQUOT, syscall.EFBIG:
		return class.Quota
	case syscall.EFAULT: // the memory of the program
		return class.Buffer
	case syscall.ENOMEM:
		return class.NoMem
	case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.ESPIPE: // of pipes, which have no offsets
		return class.UnsupportedOperation
	}
	return class.IO
}
