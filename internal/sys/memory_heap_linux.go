package sys

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// commitPiece is how many bytes of memory one system call makes, at most. A signal
// ends such a call, which then has done nothing, so it must be short.
const commitPiece = 16 << 20

// Sparse is Memfd for least bytes and behind them as much of more as the system lets
// a file have: all, or the half of it, and so on. What is there is a multiple of unit
// beyond least.
func Sparse(name string, least, more, unit int64) (*os.File, error) {
	var limit unix.Rlimit
	// To go beyond this limit is not only an error, but also a signal.
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur < math.MaxInt64 {
		if least > int64(limit.Cur) {
			return nil, fmt.Errorf("memfd %s of %d bytes: the limit of files is %d", name, least, limit.Cur)
		}
		more = min(more, int64(limit.Cur)-least)
	}
	for {
		more -= more % unit
		f, err := Memfd(name, least+more)
		if err == nil || more == 0 {
			return f, err
		}
		more /= 2
	}
}

// Reserve maps size bytes of f from offset off on, a multiple of the page size, without
// access: see Allow. If addresses are short it maps a part, in multiples of unit, and leaves
// at least as much to others: without addresses Go's own memory ends the process. Core dumps
// leave the mapping out: a debugger reads memory without access, too, and to read pages that
// nobody has touched makes them.
func Reserve(f *os.File, off, size, unit int64) ([]byte, error) {
	b, err := mapPart(f, off, size)
	for err != nil && size > unit {
		size = max(size/2/unit, 1) * unit
		if b, err = mapPart(f, off, size); err == nil && size > unit {
			if err = Unmap(b); err == nil {
				size = size / 2 / unit * unit
				b, err = mapPart(f, off, size)
			}
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes of %s at %d: %w", size, f.Name(), off, mapped(err))
	}
	_ = unix.Madvise(b, unix.MADV_DONTDUMP) // a large dump is no reason to fail
	return b, nil
}

func mapPart(f *os.File, off, size int64) ([]byte, error) {
	return mmap(int(f.Fd()), off, size, unix.PROT_NONE, unix.MAP_SHARED|unix.MAP_NORESERVE)
}

// Allow lets pages of memory from Reserve be read and written.
func Allow(b []byte) error { return protect(b, unix.PROT_READ|unix.PROT_WRITE) }

// Deny undoes Allow: who reads or writes the pages faults.
func Deny(b []byte) error { return protect(b, unix.PROT_NONE) }

func protect(b []byte, prot int) error {
	if err := unix.Mprotect(b, prot); err != nil {
		return fmt.Errorf("mprotect of %d bytes: %w", len(b), err)
	}
	return nil
}

// Commit makes the pages of a memory file from off on, size bytes: from then on nobody
// who uses them fails for want of memory. They are zero if they were not there.
func Commit(f *os.File, off, size int64) error {
	return inPieces("fallocate", f, 0, off, size)
}

// Punch gives pages of a memory file back. They are zero when they are used again.
func Punch(f *os.File, off, size int64) error {
	return inPieces("giving back", f, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, size)
}

func inPieces(what string, f *os.File, mode uint32, off, size int64) error {
	for size > 0 {
		n := min(size, commitPiece)
		switch err := unix.Fallocate(int(f.Fd()), mode, off, n); {
		case err == nil:
			off, size = off+n, size-n
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("%s of %d bytes of %s at %d: %w", what, n, f.Name(), off, err)
		}
	}
	return nil
}

// Anonymous maps size bytes of zeroed memory of this process alone. Unmap gives it back.
func Anonymous(size int64) ([]byte, error) {
	b, err := mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, mapped(err))
	}
	return b, nil
}

// Scatter has the pages of memory from Anonymous made one by one, and never as huge ones: of those
// that are far from each other few are touched.
func Scatter(b []byte) {
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // a kernel without huge pages refuses, and makes none
}

// Discard gives the pages of memory from Anonymous back. They are zero when they are used again.
func Discard(b []byte) error {
	if err := unix.Madvise(b, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("giving back %d bytes: %w", len(b), err)
	}
	return nil
}

// Populate makes the pages of memory from Anonymous.
func Populate(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), commitPiece)
		switch err := unix.Madvise(b[:n], unix.MADV_POPULATE_WRITE); {
		case err == nil:
			b = b[n:]
		case errors.Is(err, unix.EINVAL): // before Linux 5.14: touch them
			for i := 0; i < n; i += os.Getpagesize() {
				b[i] = 0
			}
			b = b[n:]
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("making %d bytes of memory: %w", n, err)
		}
	}
	return nil
}

// addresses is what a process can map on every processor with 64 bits, in bytes, with
// room left for all else.
const addresses = 1 << 46

// AddressSpace is how much the process may map, in bytes, about.
func AddressSpace() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil && limit.Cur < addresses {
		return int64(limit.Cur)
	}
	return addresses
}
