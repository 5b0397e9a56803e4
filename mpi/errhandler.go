package mpi

import (
	"fmt"
	"os"
)

// Errhandler says what happens when a call fails, before it returns the error.
// Each communicator has one, which it gives to those made from it, and each window;
// errors that belong to neither go to the handler of self, if there is one self: not
// among ranks that are goroutines (Run). It is called once for an error, by the
// goroutine whose call has failed and without any lock, so that it may call
// anything.
//
// In Go the first communicators, and windows, have ErrorsReturn. The environment
// variable HALO_INITIAL_ERRHANDLER changes that, with the values of the standard's
// mpi_initial_errhandler: mpi_errors_are_fatal, mpi_errors_abort or
// mpi_errors_return. Wrong arguments of a nonblocking call reach the handler at
// once, and the caller when it waits for the request. Where several operations
// are completed and the error is ErrInStatus, the handler gets the error of the
// first that failed. The program's own error in Main is no error of a call.
//
// Handlers are values, the zero Errhandler is the null handler.
//
// C: MPI_Errhandler, section 9.3.
type Errhandler struct{ h *errhandler }

type errhandler struct {
	name string
	call func(c *Comm, e *Error) // nil for ErrorsReturn
	only object                  // what it is for, unless it is predefined
}

// object is a kind of object that has error handlers.
type object string

const (
	aCommunicator object = "communicator"
	aWindow       object = "window"
)

// The predefined error handlers: ErrorsReturn does nothing, so that the call
// returns its error. ErrorsAreFatal and ErrorsAbort print it and end the job,
// and the exit status of the launcher is the error's class: Halo's processes end
// all together, so that ErrorsAbort, meant for those of one communicator, is not
// different. Among ranks that are goroutines (Run) both panic, which is the end
// of the rank.
//
// C: MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT, section 9.3.
var (
	ErrorsReturn   = Errhandler{&errhandler{name: "ErrorsReturn"}}
	ErrorsAreFatal = Errhandler{&errhandler{name: "ErrorsAreFatal", call: die}}
	ErrorsAbort    = Errhandler{&errhandler{name: "ErrorsAbort", call: die}}
)

// die ends the job because of an error.
func die(c *Comm, e *Error) {
	if c != nil && !c.w.Process() {
		panic(e)
	}
	status := int(e.Class)
	if c == nil {
		fmt.Fprintln(os.Stderr, e)
		if status <= 0 || status > 255 {
			status = 1
		}
		os.Exit(status)
	}
	fmt.Fprintf(os.Stderr, "rank %d: %v\n", c.w.Comm.Rank, e)
	c.w.Abort(status, "") // the line above has said why
}

// CreateCommErrhandler makes an error handler for communicators of fn, which
// gets the communicator, or self for errors that belong to none, and the error
// that the call is about to return. A nil fn gives the null handler.
//
// C: MPI_Comm_create_errhandler, section 9.3.1.
func CreateCommErrhandler(fn func(c *Comm, err *Error)) Errhandler {
	if fn == nil {
		return Errhandler{}
	}
	return Errhandler{&errhandler{"user-defined", fn, aCommunicator}}
}

// IsNull reports whether h is the null handler.
//
// C: MPI_ERRHANDLER_NULL, section 9.3.
func (h Errhandler) IsNull() bool { return h.h == nil }

// String is the name of a predefined handler.
//
// C: none; MPI_Errhandler has no name.
func (h Errhandler) String() string {
	if h.h == nil {
		return "null"
	}
	return h.h.name
}

// Free makes h the null handler. Communicators and windows that have the handler keep
// it.
//
// C: MPI_Errhandler_free, section 9.3.4.
func (h *Errhandler) Free() error {
	if h.h == nil {
		return fail(ErrErrhandler, "Free", nil, "error handler is null")
	}
	h.h = nil
	return nil
}

// SetErrhandler gives the communicator an error handler, in this process. One that was
// made for windows is ErrErrhandler.
//
// C: MPI_Comm_set_errhandler, section 9.3.1.
func (c *Comm) SetErrhandler(h Errhandler) error {
	if err := c.takesHandler(callSetErrhandler); err != nil {
		return err
	}
	return c.setErrhandler(h, aCommunicator)
}

// takesHandler is usable for calls about error handlers. These take a communicator that
// Idup is still making, too: bindings for other languages give each communicator its
// handler as soon as they have it.
func (c *Comm) takesHandler(k call) *Error {
	if c != nil && c.making.Load() { // pairs with the store of idup's ready
		return nil
	}
	return c.usable(k)
}

// setErrhandler gives c, or the window that it stands for, an error handler.
func (c *Comm) setErrhandler(h Errhandler, of object) error {
	switch {
	case h.h == nil:
		return fail(ErrErrhandler, callSetErrhandler.String(), c, "error handler is null")
	case h.h.only != "" && h.h.only != of:
		return fail(ErrErrhandler, callSetErrhandler.String(), c, "error handler was made for a %s, not for a %s", h.h.only, of)
	}
	c.handler.Store(h.h)
	c.chosen.Store(true)
	return nil
}

// ofNone is, of self, the communicator whose handler is told of errors that belong to no
// object: self, as the standard has it since MPI-4. Before that it was the world, and
// programs that have set a handler for the world alone mean these errors, too: they are
// taken at their word until they give self one.
func (c *Comm) ofNone() *Comm {
	if c != nil && !c.chosen.Load() && c.world.chosen.Load() { // pairs with setErrhandler
		return c.world
	}
	return c
}

// Errhandler is the communicator's error handler.
//
// C: MPI_Comm_get_errhandler, section 9.3.1.
func (c *Comm) Errhandler() (Errhandler, error) {
	if err := c.takesHandler(callGetErrhandler); err != nil {
		return Errhandler{}, err
	}
	return Errhandler{c.handler.Load()}, nil
}

// CallErrhandler calls the communicator's error handler with err, and returns it
// as an *Error about c: a library returns what it returns. A Class or code gives
// the error its class, as does an *Error beneath err, and others are ErrOther. An
// *Error that a library has made itself, and no handler has seen, keeps its call, peer
// and detail. With nil nothing is called.
//
// C: MPI_Comm_call_errhandler, section 9.5.
func (c *Comm) CallErrhandler(err error) error {
	if e := c.usable(callCallErrhandler); e != nil {
		return e
	}
	return c.callErrhandler(err)
}

// CallErrhandler is Comm.CallErrhandler for an error that belongs to no object: the handler
// of self is called, or of the world if self was never given one and the world was.
//
// C: none; what libraries in C raise belongs to an object. See section 9.3.
func CallErrhandler(err error) error { return (*Comm)(nil).callErrhandler(err) }

// callErrhandler is CallErrhandler for c, for the window that c stands for, or for none.
func (c *Comm) callErrhandler(err error) error {
	if err == nil || err == Success {
		return nil
	}
	if e, ok := err.(*Error); ok && !e.told && e.comm == nil {
		if c != nil {
			e.Object, e.comm = c.Name(), c
		}
		return e.raised()
	}
	e := newError(codeOf(err), callCallErrhandler.String(), c, "%v", err)
	e.cause = err
	if code, ok := err.(Class); ok {
		e.cause = nil
		if text := ErrorString(code); text != "" {
			e.Detail = text
		}
	}
	return e.raised()
}

// raised tells the error handler of e, unless it knows, and returns e. It is
// called without locks: the handler may call anything.
func (e *Error) raised() *Error {
	if e.told {
		return e
	}
	e.told = true
	if name := current.names.Load(); name != nil {
		e.Call = (*name)(e.Call)
	}
	if describe := current.texts.Load(); describe != nil {
		(*describe)(e)
	}
	c := e.comm
	switch {
	case c == nil:
		c = current.self.Load().ofNone()
	case c.freed.Load():
		c = c.self.ofNone()
	}
	h := initialErrhandler()
	if c != nil {
		h = c.handler.Load()
	}
	if h.call != nil {
		h.call(c, e)
	}
	return e
}

// raise is raised for calls that may have no error.
func raise(e *Error) error {
	if e == nil {
		return nil
	}
	return e.raised()
}

// errhandlerVariable names the environment variable of the first handler.
const errhandlerVariable = "HALO_INITIAL_ERRHANDLER"

// initialErrhandler is what the first communicators start with.
func initialErrhandler() *errhandler {
	switch os.Getenv(errhandlerVariable) {
	case "mpi_errors_are_fatal":
		return ErrorsAreFatal.h
	case "mpi_errors_abort":
		return ErrorsAbort.h
	}
	if h := current.first.Load(); h != nil {
		return h
	}
	return ErrorsReturn.h
}

// checkInitialErrhandler fails if the variable has none of its values. The error
// is still to be raised.
func checkInitialErrhandler() *Error {
	switch v := os.Getenv(errhandlerVariable); v {
	case "", "mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return":
		return nil
	default:
		return newError(ErrArg, "Init", nil, "%s=%s, want mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return", errhandlerVariable, v)
	}
}
