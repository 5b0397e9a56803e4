package bind

import (
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// errhandler is an error handler that has a handle in C.
type errhandler struct {
	h    mpi.Errhandler
	refs int // references that the program has received and not freed
}

// errhandlers is the handle table of error handlers. MPI_Comm_get_errhandler returns the
// existing handle of an error handler as long as it is not freed.
type errhandlers struct {
	table[*errhandler]
	refs sync.Mutex // guards errhandler.refs, and:
	of   map[mpi.Errhandler]handle
}

// addErrhandler returns the handle of an error handler with one more reference, and makes
// the handle if there is none.
func (l *Lib) addErrhandler(h mpi.Errhandler) handle {
	switch h {
	case mpi.ErrorsAreFatal:
		return errorsAreFatal
	case mpi.ErrorsAbort:
		return errorsAbort
	case mpi.ErrorsReturn:
		return errorsReturn
	}
	t := &l.errhandlers
	t.refs.Lock()
	defer t.refs.Unlock()
	if known, ok := t.of[h]; ok {
		e, _ := t.get(known)
		e.refs++
		return known
	}
	made := t.add(&errhandler{h, 1})
	if !h.IsNull() {
		if t.of == nil {
			t.of = map[mpi.Errhandler]handle{}
		}
		t.of[h] = made
	}
	return made
}

// errhandler returns the error handler of a handle.
func (l *Lib) errhandler(h handle, by call.Number) (mpi.Errhandler, error) {
	e, ok := l.errhandlerOf(h)
	if !ok {
		return e, l.fail(mpi.ErrErrhandler, by, noErrhandler, h)
	}
	return e, nil
}

const noErrhandler = "%#x is no error handler: it was freed, or never was one"

// errhandlerOf returns the error handler of a handle, if the handle is valid.
func (l *Lib) errhandlerOf(h handle) (mpi.Errhandler, bool) {
	switch h {
	case errorsAreFatal:
		return mpi.ErrorsAreFatal, true
	case errorsAbort:
		return mpi.ErrorsAbort, true
	case errorsReturn:
		return mpi.ErrorsReturn, true
	}
	e, ok := l.errhandlers.get(h)
	if !ok {
		return mpi.Errhandler{}, false
	}
	return e.h, true
}

// setCommErrhandler is MPI_Comm_set_errhandler. An invalid handler is an error on the
// communicator: its present error handler is called.
func (l *Lib) setCommErrhandler(a args) error {
	c, err := l.comm(a.word(0), call.CommSetErrhandler)
	if err != nil {
		return err
	}
	h, ok := l.errhandlerOf(a.word(1))
	if !ok {
		return l.failOn(c, mpi.ErrErrhandler, call.CommSetErrhandler, noErrhandler, a.word(1))
	}
	return c.SetErrhandler(h)
}

// setWinErrhandler is MPI_Win_set_errhandler.
func (l *Lib) setWinErrhandler(a args) error {
	w, err := l.win(a.word(0), call.WinSetErrhandler)
	if err != nil {
		return err
	}
	h, ok := l.errhandlerOf(a.word(1))
	if !ok {
		return l.failWin(w, mpi.ErrErrhandler, call.WinSetErrhandler, noErrhandler, a.word(1))
	}
	return w.SetErrhandler(h)
}

// freeErrhandler is MPI_Errhandler_free. Freeing a predefined handler, which programs do
// with the result of MPI_Comm_get_errhandler, only sets the handle to null.
func (l *Lib) freeErrhandler(a args) error {
	l.destructors.flush(false)
	return free(l, a, call.ErrhandlerFree, errhandlerNull, l.errhandler, func(mpi.Errhandler) error { return nil }, l.dropErrhandler)
}

// dropErrhandler drops one reference to a handle and removes the handle with the last one.
func (l *Lib) dropErrhandler(h handle) bool {
	t := &l.errhandlers
	t.refs.Lock()
	defer t.refs.Unlock()
	e, ok := t.get(h)
	if !ok {
		return false
	}
	e.refs--
	if e.refs > 0 {
		return true
	}
	delete(t.of, e.h)
	return t.remove(h)
}

// function returns an error unless fn can be the address of a function.
func (l *Lib) function(by call.Number, fn uintptr) error {
	if pointer(fn) == nil {
		return l.fail(mpi.ErrArg, by, "function at %#x", fn)
	}
	return nil
}

// handled calls an error handler of the program. The handler gets the address of the code that the call is
// to return, and what it leaves there is returned.
func (l *Lib) handled(callback int, fn uintptr, object handle, e *mpi.Error) {
	words := []uintptr{object, uintptr(e.Class)}
	l.hooks.Invoke(callback, fn, words)
	e.Class = mpi.Class(int32(words[1]))
}

// commErrhandler is MPI_Comm_create_errhandler.
func (l *Lib) commErrhandler(fn uintptr) (mpi.Errhandler, error) {
	if err := l.function(call.CommCreateErrhandler, fn); err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateCommErrhandler(func(c *mpi.Comm, e *mpi.Error) {
		l.lendComm(c, func(h handle) { l.handled(callComm_errhandler_function, fn, h, e) })
	}), nil
}

// winErrhandler is MPI_Win_create_errhandler.
func (l *Lib) winErrhandler(fn uintptr) (mpi.Errhandler, error) {
	if err := l.function(call.WinCreateErrhandler, fn); err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateWinErrhandler(func(w *mpi.Window, e *mpi.Error) {
		l.wins.lend(w, winNull, func(h handle) { l.handled(callWin_errhandler_function, fn, h, e) })
	}), nil
}

// sessionErrhandler is MPI_Session_create_errhandler.
func (l *Lib) sessionErrhandler(fn uintptr) (mpi.Errhandler, error) {
	if err := l.function(call.SessionCreateErrhandler, fn); err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateSessionErrhandler(func(s *mpi.Session, e *mpi.Error) {
		l.sessions.lend(s, sessionNull, func(h handle) { l.handled(callSession_errhandler_function, fn, h, e) })
	}), nil
}

// commErrhandlerExtra, winErrhandlerExtra, sessionErrhandlerExtra and fileErrhandlerExtra are
// MPIX_Comm_create_errhandler_x and so on.
func (l *Lib) commErrhandlerExtra(fn, destroy, extra uintptr) (mpi.Errhandler, error) {
	c, err := l.callback(call.CommCreateErrhandlerX, fn, destroy, extra)
	if err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateCommErrhandler(func(on *mpi.Comm, e *mpi.Error) {
		l.lendComm(on, func(h handle) {
			l.hooks.Invoke(callComm_errhandler_function_x, c.function, []uintptr{h, uintptr(e.Class), c.extra})
		})
	}), nil
}

func (l *Lib) winErrhandlerExtra(fn, destroy, extra uintptr) (mpi.Errhandler, error) {
	c, err := l.callback(call.WinCreateErrhandlerX, fn, destroy, extra)
	if err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateWinErrhandler(func(w *mpi.Window, e *mpi.Error) {
		l.wins.lend(w, winNull, func(h handle) {
			l.hooks.Invoke(callWin_errhandler_function_x, c.function, []uintptr{h, uintptr(e.Class), c.extra})
		})
	}), nil
}

func (l *Lib) sessionErrhandlerExtra(fn, destroy, extra uintptr) (mpi.Errhandler, error) {
	c, err := l.callback(call.SessionCreateErrhandlerX, fn, destroy, extra)
	if err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateSessionErrhandler(func(s *mpi.Session, e *mpi.Error) {
		l.sessions.lend(s, sessionNull, func(h handle) {
			l.hooks.Invoke(callSession_errhandler_function_x, c.function, []uintptr{h, uintptr(e.Class), c.extra})
		})
	}), nil
}

func (l *Lib) fileErrhandlerExtra(fn, destroy, extra uintptr) (mpi.Errhandler, error) {
	c, err := l.callback(call.FileCreateErrhandlerX, fn, destroy, extra)
	if err != nil {
		return mpi.Errhandler{}, err
	}
	return mpi.CreateFileErrhandler(func(f *mpi.File, e *mpi.Error) {
		l.files.lend(f, fileNull, func(h handle) {
			l.hooks.Invoke(callFile_errhandler_function_x, c.function, []uintptr{h, uintptr(e.Class), c.extra})
		})
	}), nil
}

// commHandle returns the handle of a communicator, or MPI_COMM_NULL for a communicator that
// is nil or has no handle yet.
func (l *Lib) commHandle(c *mpi.Comm) handle {
	world := l.world.Load()
	switch {
	case c == nil:
		return commNull
	case c == world:
		return commWorld
	case world != nil && c == world.Self():
		return commSelf
	}
	return l.comms.handleOf(c, commNull)
}

// winHandle returns the handle of a window.
func (l *Lib) winHandle(w *mpi.Window) handle { return l.wins.handleOf(w, winNull) }

// handleOf returns the handle of an object, or none if the object has no handle.
func (t *named[T]) handleOf(value T, none handle) handle {
	if h, ok := t.handles.Load(value); ok {
		return h.(handle)
	}
	return none
}
