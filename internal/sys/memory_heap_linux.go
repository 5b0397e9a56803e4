package sys

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// commitPiece is how many bytes of memory one system call allocates at most. A signal interrupts such a
// call, which then has done nothing, so the call must be short.
const commitPiece = 16 << 20

// Sparse makes a memory file, as Memfd does, of least bytes and as much of more as the system permits:
// all, or half of it, and so on. The size beyond least is a multiple of unit.
func Sparse(name string, least, more, unit int64) (*os.File, error) {
	var limit unix.Rlimit
	// A file beyond this limit is an error, and a signal too.
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

// Reserve maps size bytes of f from offset off, a multiple of the page size, without access: see Allow.
// If address space is limited it maps a part, in multiples of unit, and leaves at least as many
// addresses unused: Go's runtime ends the process if it gets none. Core dumps exclude the mapping: a
// debugger reads memory without access too, and reading a page that was never used allocates it.
func Reserve(f *os.File, off, size, unit int64) ([]byte, error) {
	b, err := mapPart(f, off, size)
	for err != nil && size > unit {
		size = max(size/2/unit, 1) * unit
		b, err = mapPart(f, off, size)
		if err == nil && size > unit {
			err = Unmap(b)
			if err == nil {
				size = size / 2 / unit * unit
				b, err = mapPart(f, off, size)
			}
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes of %s at %d: %w", size, f.Name(), off, mapped(err))
	}
	_ = unix.Madvise(b, unix.MADV_DONTDUMP) // an error only means that dumps are larger
	return b, nil
}

func mapPart(f *os.File, off, size int64) ([]byte, error) {
	return mmap(int(f.Fd()), off, size, unix.PROT_NONE, unix.MAP_SHARED|unix.MAP_NORESERVE)
}

// Allow makes pages of memory from Reserve readable and writable.
func Allow(b []byte) error { return protect(b, unix.PROT_READ|unix.PROT_WRITE) }

// Deny undoes Allow: an access to the pages faults.
func Deny(b []byte) error { return protect(b, unix.PROT_NONE) }

func protect(b []byte, prot int) error {
	if err := unix.Mprotect(b, prot); err != nil {
		return fmt.Errorf("mprotect of %d bytes: %w", len(b), err)
	}
	return nil
}

// Commit allocates the pages of size bytes of a memory file from off, so that no later access fails for
// lack of memory. New pages are zero.
func Commit(f *os.File, off, size int64) error {
	return inPieces("fallocate", f, 0, off, size)
}

// Punch frees pages of a memory file. They are zero when they are used again.
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

// Anonymous maps size bytes of zeroed memory of this process alone. Unmap frees it.
func Anonymous(size int64) ([]byte, error) {
	b, err := mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, mapped(err))
	}
	return b, nil
}

// Scatter makes the kernel allocate memory from Anonymous in single pages, never in huge ones: it is for
// memory of which few, distant pages are used.
func Scatter(b []byte) {
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // a kernel without huge pages returns an error, which does no harm
}

// Discard frees the pages of memory from Anonymous. They are zero when they are used again.
func Discard(b []byte) error {
	if err := unix.Madvise(b, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("giving back %d bytes: %w", len(b), err)
	}
	return nil
}

// Populate allocates the pages of memory from Anonymous.
func Populate(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), commitPiece)
		switch err := unix.Madvise(b[:n], unix.MADV_POPULATE_WRITE); {
		case err == nil:
			b = b[n:]
		case errors.Is(err, unix.EINVAL): // before Linux 5.14: write to each
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

// addresses is how many bytes a process can map on every 64-bit processor, with room for everything
// else.
const addresses = 1 << 46

// AddressSpace returns approximately how many bytes the process may map.
func AddressSpace() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil && limit.Cur < addresses {
		return int64(limit.Cur)
	}
	return addresses
}
