package bind

import (
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/mpi"
)

// requestHook has the functions of the program that a request calls: MPIX_Request_add_hooks. The
// Fortran library moves the data of sections of arrays by them, which the operation has in a
// contiguous copy.
type requestHook struct {
	start, complete, destroy uintptr // functions, or null
	extra                    uintptr
	active                   bool // the operation has been started, and not been found complete
}

// requestHooks holds the hooks of requests by their handles. Calls that start and complete requests
// look at count first, so that it costs them one load as long as there are no hooks.
type requestHooks struct {
	count atomic.Int64
	mu    sync.Mutex
	all   map[handle]*requestHook
}

// addHooks is MPIX_Request_add_hooks.
func (l *Lib) addHooks(a args) error {
	const by = call.RequestAddHooks
	h := a.word(0)
	hook := &requestHook{start: a.word(1), complete: a.word(2), destroy: a.word(3), extra: a.word(4)}
	for _, fn := range []uintptr{hook.start, hook.complete, hook.destroy} {
		if fn == 0 {
			continue
		}
		if err := l.function(by, fn); err != nil {
			return err
		}
	}
	hook.active = hook.start == 0
	if isDone(h) { // the operation is complete
		l.runHook(hook.complete, hook)
		l.runHook(hook.destroy, hook)
		return nil
	}
	if _, ok := l.find(h); !ok {
		return l.noRequest(by, h)
	}
	s := &l.hooked
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[h] != nil {
		return l.fail(mpi.ErrRequest, by, "%#x has hooks already", h)
	}
	if s.all == nil {
		s.all = map[handle]*requestHook{}
	}
	s.all[h] = hook
	s.count.Add(1)
	return nil
}

// any reports whether there are hooks. It inlines: calls that find none pay nothing else.
func (s *requestHooks) any() bool { return s.count.Load() != 0 }

// get returns the hook of a request, or nil.
func (s *requestHooks) get(h handle) *requestHook {
	if !s.any() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[h]
}

// remove removes the hook of a request.
func (s *requestHooks) remove(h handle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, h)
	s.count.Add(-1)
}

// runHook calls a function of a hook, unless it is null.
func (l *Lib) runHook(function uintptr, hook *requestHook) {
	if function != 0 {
		l.hooks.Invoke(callDestructor_function, function, []uintptr{hook.extra})
	}
}

// startingHook calls the function for a persistent request that is about to be started.
func (l *Lib) startingHook(h handle) {
	if hook := l.hooked.get(h); hook != nil {
		hook.active = true
		l.runHook(hook.start, hook)
	}
}

// completed calls the function for a request if its operation is complete, once for each start. q is
// null if the request ends with that.
func (l *Lib) completed(h handle, q *mpi.Request) {
	hook := l.hooked.get(h)
	if hook == nil {
		return
	}
	if hook.active && done(q) {
		hook.active = planted.HookAgain
		l.runHook(hook.complete, hook)
	}
	if q.IsNull() {
		l.hooked.remove(h)
		l.runHook(hook.destroy, hook)
	}
}

// done reports whether a request has no operation in progress.
func done(q *mpi.Request) bool {
	if q.IsNull() {
		return true
	}
	_, is, _ := q.GetStatus()
	return is
}

// freed forgets the hook of a request that the program has freed. If the operation is in progress,
// it still uses what the hook has: then nothing of that is released.
func (l *Lib) freed(h handle) {
	if hook := l.hooked.get(h); hook != nil {
		l.hooked.remove(h)
		if !hook.active {
			l.runHook(hook.destroy, hook)
		}
	}
}
