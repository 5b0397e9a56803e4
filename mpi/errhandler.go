package mpi

import (
	"fmt"
	"os"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
)

// Errhandler is an error handler: a function that is called when a call fails, before the call
// returns the error. Each communicator has one, which communicators made from it inherit, and so
// has each window. Errors that belong to neither go to the handler of self; before Init, and
// among ranks that are goroutines (Run), which have no common self, to the initial handler. The
// handler is called once for an error, by the goroutine whose call has failed, which holds no
// lock then, so that the handler may call any function. A communicator that was freed while an
// operation was pending still gets the errors of that operation; a call on it is an error of self.
//
// In Go the initial handler of the first communicators and of windows is ErrorsReturn. The
// environment variable HALO_INITIAL_ERRHANDLER changes that; its values are those of the
// standard's mpi_initial_errhandler: mpi_errors_are_fatal, mpi_errors_abort or
// mpi_errors_return. An invalid argument of a nonblocking call reaches the handler at once, and
// the program when it waits for the request. If a call completes several operations and returns
// ErrInStatus, the handler gets the error of the first operation that failed. An error that the
// program's own function returns to Main goes to no handler.
//
// Handlers are values; the zero Errhandler is the null handler.
//
// C: MPI_Errhandler, section 9.3.
type Errhandler struct{ h *errhandler }

type errhandler struct {
	name string
	call func(c *Comm, e *Error) // nil for ErrorsReturn
	only object                  // the kind of object that it was made for; empty for predefined handlers
}

// object is a kind of object that has error handlers.
type object string

const (
	aCommunicator object = "communicator"
	aWindow       object = "window"
	aSession      object = "session"
	aFile         object = "file"
)

// The predefined error handlers. ErrorsReturn does nothing, so that the call returns its error.
// ErrorsAreFatal and ErrorsAbort print the error and end the job; the exit status of the
// launcher is the error's class. ErrorsAbort, which by the standard ends the processes of one
// communicator, ends the whole job, too, since Halo cannot end a part of it. If ranks are
// goroutines (Run) both panic, which ends the rank.
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
	fmt.Fprintf(os.Stderr, "rank %d: %v\n", c.w.Proc.Job().Rank, e)
	c.w.Abort(status, boot.ErrorAbove)
}

// CreateCommErrhandler makes an error handler for communicators. fn gets the communicator, or
// self for errors that belong to no object, and the error that the call will return. A nil fn
// gives the null handler.
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

// Free makes h the null handler. Communicators and windows that have the handler keep it.
//
// C: MPI_Errhandler_free, section 9.3.4.
func (h *Errhandler) Free() error {
	if h.h == nil {
		return fail(ErrErrhandler, call.ErrhandlerFree, nil, "error handler is null")
	}
	h.h = nil
	return nil
}

// SetErrhandler sets the error handler of the communicator in this process. ErrErrhandler if h
// is null or was made for windows.
//
// C: MPI_Comm_set_errhandler, section 9.3.1.
func (c *Comm) SetErrhandler(h Errhandler) error {
	if err := c.takesHandler(call.CommSetErrhandler); err != nil {
		return err
	}
	return c.setErrhandler(call.CommSetErrhandler, h, aCommunicator)
}

// takesHandler is usable for calls that set or get error handlers. They accept also a
// communicator that Idup is still making: bindings for other languages set the handler of each
// communicator as soon as they have it.
func (c *Comm) takesHandler(k call.Number) *Error {
	if c != nil && c.making.Load() { // pairs with the store of idup's ready
		return nil
	}
	return c.usable(k)
}

// setErrhandler sets the error handler of c, or of the window that c stands for.
func (c *Comm) setErrhandler(by call.Number, h Errhandler, of object) error {
	if err := h.fits(by, of); err != nil {
		err.Object, err.comm = c.Name(), c
		return err.raised()
	}
	c.handler.Store(h.h)
	c.chosen.Store(true)
	return nil
}

// ofNone is called on self. It returns the communicator whose handler gets errors that belong to
// no object: self, as the standard says since MPI-4. Before MPI-4 it was the world: if a program
// has set a handler for the world and none for self, its handler for the world gets these
// errors.
func (c *Comm) ofNone() *Comm {
	if c != nil && c.world != nil && !c.chosen.Load() && c.world.chosen.Load() { // pairs with setErrhandler
		return c.world
	}
	return c
}

// Errhandler is the communicator's error handler.
//
// C: MPI_Comm_get_errhandler, section 9.3.1.
func (c *Comm) Errhandler() (Errhandler, error) {
	if err := c.takesHandler(call.CommGetErrhandler); err != nil {
		return Errhandler{}, err
	}
	return Errhandler{c.handler.Load()}, nil
}

// CallErrhandler calls the communicator's error handler with err and returns err as an *Error
// about c, which a library can return in turn. The class of the error is err itself if that is a
// Class or code, or that of the *Error that err wraps, and else ErrOther. An *Error that a
// library has made and that no handler has been called with keeps its call, peer and detail. If
// err is nil, CallErrhandler calls no handler and returns nil.
//
// C: MPI_Comm_call_errhandler, section 9.5.
func (c *Comm) CallErrhandler(err error) error {
	if e := c.usable(call.CommCallErrhandler); e != nil {
		return e
	}
	return c.callErrhandler(call.CommCallErrhandler, err)
}

// CallErrhandler is Comm.CallErrhandler for an error that belongs to no object: it calls the
// handler of self, or of the world if the program has set a handler for the world and none for
// self.
//
// C: none; what libraries in C raise belongs to an object. See section 9.3.
func CallErrhandler(err error) error {
	return (*Comm)(nil).callErrhandler(call.CommCallErrhandler, err)
}

// callErrhandler is CallErrhandler for c, for the window that c stands for, or for no object if
// c is nil.
func (c *Comm) callErrhandler(by call.Number, err error) error {
	if err == nil || err == Success {
		return nil
	}
	if e, ok := err.(*Error); ok && !e.told && e.comm == nil {
		if c != nil {
			e.Object, e.comm = c.Name(), c
		}
		return e.raised()
	}
	e := newError(codeOf(err), by, c, "%v", err)
	e.cause = err
	if code, ok := err.(Class); ok {
		e.cause = nil
		if text := ErrorString(code); text != "" {
			e.Detail = text
		}
	}
	return e.raised()
}

// raised calls the error handler with e, unless that has been done before, and returns e. The
// caller holds no locks, since the handler may call any function.
func (e *Error) raised() *Error {
	if e.told {
		return e
	}
	e.renamed()
	c := e.comm
	switch {
	case c == nil:
		c = current.self.Load().ofNone()
	case e.gone:
		c = c.self.ofNone()
	case c.freed.Load():
		c.handling.Add(1) // pairs with the loads of usable
		defer c.handling.Add(-1)
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

// renamed gives the error the names of the program's language, before its handler is called.
func (e *Error) renamed() {
	e.told = true
	if name := current.names.Load(); name != nil {
		e.Call = (*name)(e.by, e.Call)
	}
	if describe := current.texts.Load(); describe != nil {
		(*describe)(e)
	}
}

// raise is raised for an error that may be nil.
func raise(e *Error) error {
	if e == nil {
		return nil
	}
	return e.raised()
}

// errhandlerVariable is the environment variable that names the initial handler.
const errhandlerVariable = "HALO_INITIAL_ERRHANDLER"

// initialErrhandler is the initial handler of the first communicators.
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

// checkInitialErrhandler returns an error if the variable has an invalid value. The caller has
// to raise the error.
func checkInitialErrhandler(by call.Number) *Error {
	switch v := os.Getenv(errhandlerVariable); v {
	case "", "mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return":
		return nil
	default:
		return newError(ErrArg, by, nil, "%s=%s, want mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return", errhandlerVariable, v)
	}
}
