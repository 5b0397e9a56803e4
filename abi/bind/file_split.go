package bind

import (
	"errors"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// A split collective access gets its buffer in both calls, and both must be made by one thread (MPI-5, 14.4.5). In
// checking mode the end compares. The engine needs neither: Go has no buffer in the end, and any
// goroutine may make it.

// splitBegun is what the end of a split access must repeat.
type splitBegun struct {
	buf    uintptr
	thread int
}

// thread is the number of the calling thread, negative if there is none.
func (l *Lib) thread() int {
	if l.hooks.Thread == nil {
		return -1
	}
	return l.hooks.Thread()
}

// splitBegun records, in checking mode, that a split access has begun with a buffer, unless it failed with err.
func (l *Lib) splitBegun(f *mpi.File, buf uintptr, err error) error {
	if err == nil && checking() {
		l.splits.Store(f, splitBegun{buf, l.thread()})
	}
	return err
}

// splitEnded ends a split access. In checking mode it is an error, and the access has not ended, if the buffer or the
// thread is another one.
func (l *Lib) splitEnded(f *mpi.File, buf uintptr, by call.Number, end func() (mpi.Status, error)) (mpi.Status, error) {
	if v, found := l.splits.Load(f); found {
		b := v.(splitBegun)
		switch {
		case b.buf != buf:
			return mpi.Status{}, l.failFile(f, mpi.ErrBuffer, by, "buffer is %#x, but the access was begun with %#x", buf, b.buf)
		case b.thread != l.thread():
			return mpi.Status{}, l.failFile(f, mpi.ErrOther, by, "called by another thread than has begun the access")
		}
	}
	st, err := end()
	if !errors.Is(err, mpi.ErrRequest) { // there is none, or the end of another access
		l.splits.Delete(f)
	}
	return st, err
}
