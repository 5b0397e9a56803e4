package mpi

import "github.com/halo-mpi/halo/internal/call"

// CreateWinErrhandler makes an error handler for windows. fn gets the window and the error that
// the call will return. A nil fn gives the null handler.
//
// C: MPI_Win_create_errhandler, section 9.3.2.
func CreateWinErrhandler(fn func(w *Window, err *Error)) Errhandler {
	if fn == nil {
		return Errhandler{}
	}
	return Errhandler{&errhandler{"user-defined", func(c *Comm, err *Error) { fn(c.win, err) }, aWindow}}
}

// SetErrhandler sets the error handler of the window in this process. A new window has the
// initial handler of communicators. ErrErrhandler if h is null or was made for communicators.
//
// C: MPI_Win_set_errhandler, section 9.3.2.
func (w *Window) SetErrhandler(h Errhandler) error {
	if err := w.usable(call.WinSetErrhandler); err != nil {
		return err
	}
	return w.c.setErrhandler(call.WinSetErrhandler, h, aWindow)
}

// Errhandler is the window's error handler.
//
// C: MPI_Win_get_errhandler, section 9.3.2.
func (w *Window) Errhandler() (Errhandler, error) {
	if err := w.usable(call.WinGetErrhandler); err != nil {
		return Errhandler{}, err
	}
	return Errhandler{w.c.handler.Load()}, nil
}

// CallErrhandler calls the window's error handler with err and returns err as an *Error about w:
// see Comm.CallErrhandler.
//
// C: MPI_Win_call_errhandler, section 9.5.
func (w *Window) CallErrhandler(err error) error {
	if e := w.usable(call.WinCallErrhandler); e != nil {
		return e
	}
	return w.c.callErrhandler(call.WinCallErrhandler, err)
}
