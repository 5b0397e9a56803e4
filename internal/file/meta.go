package file

import (
	"fmt"
	"math"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
)

// Closed reports whether Close has closed the file in this process.
func (f *File) Closed() bool { return f.closed.Load() }

// Path is the name of the file, without a prefix that names a file system.
func (f *File) Path() string { return f.path }

// Mode is the access mode.
func (f *File) Mode() Mode { return f.mode }

// Members are the processes that have opened the file, by rank.
func (f *File) Members() []int32 { return f.c.Members }

// Hints are the hints in use.
func (f *File) Hints() Hints { return *f.hints.Load() }

// SetHints changes the hints: collective, without communication.
func (f *File) SetHints(h Hints) {
	if was := f.hints.Swap(&h); was != nil && was.Style != h.Style {
		f.advise(&h)
	}
}

// NewView checks the arguments of a view for this file. disp is Current in a sequential file: where
// the shared pointer is.
// own is the representation of the program with that name, nil if there is none.
func (f *File) NewView(disp int64, etype, filetype *dtype.Type, rep string, own *Representation) (*View, error) {
	switch {
	case f.closed.Load():
		return nil, class.Errorf(class.File, "file is closed")
	case disp == Current && !f.mode.has(Sequential):
		return nil, class.Errorf(class.Arg, "MPI_DISPLACEMENT_CURRENT in a file that is not sequential: %v", f.mode)
	case f.mode.has(Sequential) && disp != Current:
		return nil, class.Errorf(class.Arg, "displacement %d in a sequential file, want MPI_DISPLACEMENT_CURRENT", disp)
	case disp == Current:
		at, err := f.shared.update(op.NoOp, 0)
		if err != nil {
			return nil, err
		}
		disp = f.view.Load().Offset(at)
		if planted.HolesForgotten {
			disp = at
		}
	}
	return newView(disp, etype, filetype, rep, !f.mode.has(ReadOnly), f.bytes, own)
}

// Current is MPI_DISPLACEMENT_CURRENT.
const Current = -1

// Extent is the extent in bytes of elements of a type in the file.
func (f *File) Extent(t *dtype.Type) (int64, error) {
	if r := f.view.Load().converts; r != nil {
		x, err := r.inFile(t, f.bytes)
		if err != nil {
			return 0, err
		}
		t = x
	}
	_, extent := t.Extent()
	return extent, nil
}

// Converts reports whether accesses need the type of their elements.
func (f *File) Converts() bool { return f.view.Load().converts != nil }

// terms is what all members must have in common in a view.
func (v *View) terms() string {
	return fmt.Sprintf("elements of %d bytes in representation %q", v.unit, v.Rep)
}

// Size is the size of the file in bytes.
func (f *File) Size() (int64, error) {
	if f.closed.Load() {
		return 0, class.Errorf(class.File, "file is closed")
	}
	n, err := f.store.Size()
	if err != nil {
		err = failed(err, "size")
	}
	return n, err
}

// SetSize cuts the file to, or extends it to, a size in bytes: collective.
func (f *File) SetSize(size int64) error {
	own := f.resizable(size)
	return f.byFirst(call.FileSetSize, fmt.Sprintf("size %d", size), own, func() error {
		if err := f.store.Truncate(size); err != nil {
			return failed(err, "size of %d bytes", size)
		}
		return nil
	})
}

// Preallocate makes sure that the first size bytes of the file have room on the disk: collective.
func (f *File) Preallocate(size int64) error {
	own := f.resizable(size)
	return f.byFirst(call.FilePreallocate, fmt.Sprintf("size %d", size), own, func() error {
		if size == 0 {
			return nil
		}
		if err := f.store.Allocate(size); err != nil {
			return failed(err, "allocation of %d bytes", size)
		}
		return nil
	})
}

// resizable returns the error in the arguments of a call that sets the size.
func (f *File) resizable(size int64) error {
	switch {
	case size < 0:
		return class.Errorf(class.Arg, "size %d is negative", size)
	case f.mode.has(ReadOnly):
		return class.Errorf(class.ReadOnly, "the file is open for reading only: %v", f.mode)
	case f.mode.has(Sequential):
		return class.Errorf(class.UnsupportedOperation, "the file is sequential: its size cannot be set")
	case f.limit > 0 && size > f.limit:
		return class.Errorf(class.Quota, "size %d: this process may write files of up to %d bytes (ulimit -f)", size, f.limit)
	}
	return nil
}

// Sync returns when what any member has written is on the disk: collective. Every member makes the
// system call, since on some file systems it covers the writes of its own host only.
func (f *File) Sync() error {
	f.queue.wait()
	own := f.store.Sync()
	if own != nil {
		own = failed(own, "sync")
	}
	return f.e.agree(f.c, call.FileSync, "", own)
}

// What a seek is relative to, with the values of the ABI.
const (
	SeekCur = 401
	SeekEnd = 402
	SeekSet = 403
)

// Seek moves the individual pointer to an offset in elementary types, and returns the offset from
// the beginning of the view.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	return f.seek(f.Bytes(), offset, whence)
}

// SeekBytes is Seek with offsets in bytes of data.
func (f *File) SeekBytes(offset int64, whence int) (int64, error) { return f.seek(1, offset, whence) }

func (f *File) seek(unit, offset int64, whence int) (int64, error) {
	switch {
	case f.closed.Load():
		return 0, class.Errorf(class.File, "file is closed")
	case f.mode.has(Sequential):
		return 0, class.Errorf(class.UnsupportedOperation, "the file is sequential: it has no individual file pointer")
	}
	f.pointer.mu.Lock()
	defer f.pointer.mu.Unlock()
	to, err := f.target(f.view.Load(), unit, f.pointer.at, offset, whence)
	if err != nil {
		return 0, err
	}
	f.pointer.at = to
	return to / unit, nil
}

// target is the position that a seek in units of unit bytes moves a pointer to, which is now at a
// position.
func (f *File) target(v *View, unit, now, offset int64, whence int) (int64, error) {
	from := int64(0)
	switch whence {
	case SeekSet:
	case SeekCur:
		from = now
	case SeekEnd:
		size, err := f.Size()
		if err != nil {
			return 0, err
		}
		from = v.end(size)
		if planted.EndByOne {
			from += v.unit
		}
	default:
		return 0, class.Errorf(class.Arg, "whence %d is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END", whence)
	}
	from /= unit
	if offset > math.MaxInt64-from || from+offset > v.most/unit {
		return 0, class.Errorf(class.Arg, "offset %d from %d does not fit into 64 bits", offset, from)
	}
	if from+offset < 0 {
		return 0, class.Errorf(class.Arg, "offset %d from %d is before the beginning of the view", offset, from)
	}
	return (from + offset) * unit, nil
}

// Position is the individual pointer, in elementary types.
func (f *File) Position() (int64, error) {
	switch {
	case f.closed.Load():
		return 0, class.Errorf(class.File, "file is closed")
	case f.mode.has(Sequential):
		return 0, class.Errorf(class.UnsupportedOperation, "the file is sequential: it has no individual file pointer")
	}
	f.pointer.mu.Lock()
	defer f.pointer.mu.Unlock()
	return f.pointer.at / f.Bytes(), nil
}

// ByteOffset is the offset in the file of an offset in the view, which is in elementary types.
func (f *File) ByteOffset(offset int64) (int64, error) {
	if f.closed.Load() {
		return 0, class.Errorf(class.File, "file is closed")
	}
	v := f.view.Load()
	at, err := v.position(v.unit, offset, 0)
	if err != nil {
		return 0, err
	}
	return v.Offset(at), nil
}
