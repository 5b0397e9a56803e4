package file

import (
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
)

// split is the split collective access of a file that has begun and has not been ended, if there is
// one (IO-11). It is an access that does not block, whose request stays here.
type split struct {
	mu   sync.Mutex
	r    *p2p.Request // nil if there is none
	call call.Number  // that has begun it
}

func (s *split) active() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r != nil
}

// Begin begins a split collective access.
func (f *File) Begin(d Direction, offset int64, x Data, by call.Number) error {
	if err := f.together(by); err != nil {
		return err
	}
	f.split.mu.Lock()
	defer f.split.mu.Unlock()
	if f.split.r != nil {
		return class.Errorf(class.Request, "%s has begun and has not been ended", f.split.call)
	}
	f.split.call = by
	f.split.r = f.startAll(d, offset, x, by)
	return nil
}

// End waits for the access that the call by has begun, in the call end, and returns how many bytes it has moved.
func (f *File) End(by, end call.Number) (int64, error) {
	s := &f.split
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case f.closed.Load():
		return 0, class.Errorf(class.File, "file is closed")
	case s.r == nil:
		return 0, class.Errorf(class.Request, "no %s has begun", by)
	case s.call != by:
		return 0, class.Errorf(class.Request, "%s has begun, and is to be ended", s.call)
	}
	p := f.e.p
	p.Lock()
	defer p.Unlock()
	s.r.PartOf(end)
	f.e.p2p.Wait(s.r)
	n := int64(s.r.Status.Bytes)
	err := f.e.p2p.Take(s.r)
	s.r = nil
	return n, err
}
