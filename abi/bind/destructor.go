package bind

import (
	"runtime"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/mpi"
)

// destructor is a function of the program that is called with its extra_state when no call needs
// that any more: MPIX_Destructor_function.
type destructor struct{ function, extra uintptr }

// destructors calls each destructor once, inside a call of MPI: that of a keyval when the keyval
// ends; that of an operation or error handler after the garbage collector has found that nothing
// refers to it, in a later call that makes or frees one; all others when the process has no world
// model and no session any more. Rejected: counting who uses an operation or error handler, which
// every request and object would have to do.
type destructors struct {
	mu   sync.Mutex
	live map[*destructor]bool // true: due, nothing refers to it any more
	due  bool                 // one in live is due
	run  func(*destructor)
}

// destructor registers a destructor, and returns nil if function is null.
func (l *Lib) destructor(by call.Number, function, extra uintptr) (*destructor, error) {
	if function == 0 {
		return nil, nil
	}
	if pointer(function) == nil {
		return nil, l.fail(mpi.ErrArg, by, "destructor_fn is %#x, which is no address of a function", function)
	}
	d, s := &destructor{function, extra}, &l.destructors
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[*destructor]bool{}
		s.run = func(d *destructor) { l.hooks.Invoke(callDestructor_function, d.function, []uintptr{d.extra}) }
	}
	s.live[d] = false
	return d, nil
}

// call calls a destructor, which may be nil, unless it has been called.
func (s *destructors) call(d *destructor) {
	if d == nil {
		return
	}
	s.mu.Lock()
	_, live := s.live[d]
	if !planted.DestructorKept {
		delete(s.live, d)
	}
	s.mu.Unlock()
	if live {
		s.run(d)
	}
}

// after makes d due when of, which the operation or error handler refers to, is garbage.
func (s *destructors) after(of *callback, d *destructor) {
	if d != nil {
		runtime.AddCleanup(of, s.ripe, d)
	}
}

// ripe makes d due. The garbage collector's goroutine calls it, which must not call the program.
func (s *destructors) ripe(d *destructor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, live := s.live[d]; live {
		s.live[d], s.due = true, true
	}
}

// flush calls the destructors that are due, or all of them.
func (s *destructors) flush(all bool) {
	s.mu.Lock()
	var list []*destructor
	if all || s.due {
		for d, due := range s.live {
			if all || due {
				list = append(list, d)
			}
		}
	}
	s.due = false
	s.mu.Unlock()
	for _, d := range list {
		s.call(d)
	}
}

// callback is a function of the program that is called with an extra_state as its last argument.
type callback struct{ function, extra uintptr }

// callback makes a callback with a destructor, which may be null.
func (l *Lib) callback(by call.Number, function, destroy, extra uintptr) (*callback, error) {
	l.destructors.flush(false)
	if err := l.function(by, function); err != nil {
		return nil, err
	}
	d, err := l.destructor(by, destroy, extra)
	if err != nil {
		return nil, err
	}
	c := &callback{function, extra}
	l.destructors.after(c, d)
	return c, nil
}
