package mpi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
)

// Error is the error that calls of this package return. errors.Is matches it with its Class, and
// errors.Unwrap returns the underlying cause, if there is one.
//
// C: MPI_Error_class and MPI_Error_string, section 9.4.
type Error struct {
	Class  Class
	Call   string // the function or method, such as "Recv"
	Object string // the name of the communicator, window or datatype, "" if none is concerned
	Peer   int    // rank of the other side; Undefined if none is concerned
	Tag    int    // Undefined if none is concerned
	Detail string // what happened, with numbers

	by      call.Number // Call; None if a library has made the error
	receive bool        // Peer is a source
	told    bool        // the error handler has been called, or must not be called
	gone    bool        // comm cannot be used any more, or not yet: the handler of its self is to be called
	cause   error       // may be nil
	comm    *Comm       // whose error handler, or the handler of whose window, is to be called; may be nil
}

// NameCalls sets a function that gives the name of the failed call in an error. It gets the call, or
// None of an error that a library has made, and Error.Call, and is called by the goroutine whose call
// has failed, before the error handler. It exists for libraries on top of Halo that have their own
// names for calls, such as bindings for other languages. It applies to the whole process; nil
// removes it.
//
// C: none; messages of error handlers, section 9.3.
func (internals) NameCalls(name func(by call.Number, call string) string) {
	if name == nil {
		current.names.Store(nil)
		return
	}
	current.names.Store(&name)
}

// DescribeErrors sets a function that changes the text of every error. It is called by the
// goroutine whose call has failed, after the function of NameCalls and before the error handler.
// It exists for bindings for other languages, which have other names for the objects in the
// text. nil removes it.
//
// C: none; messages of error handlers, section 9.3.
func (internals) DescribeErrors(describe func(e *Error)) {
	if describe == nil {
		current.texts.Store(nil)
		return
	}
	current.texts.Store(&describe)
}

// Error is the message: it contains the call, object, peer, tag and what happened.
//
// C: MPI_Error_string, section 9.4.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("mpi: ")
	b.WriteString(e.Call)
	if e.Object != "" {
		b.WriteString(" on ")
		b.WriteString(e.Object)
	}
	if e.Peer != Undefined {
		dir := " to "
		if e.receive {
			dir = " from "
		}
		b.WriteString(dir)
		b.WriteString(rankText(e.Peer))
	}
	if e.Tag != Undefined {
		fmt.Fprintf(&b, " tag %s", tagText(e.Tag))
	}
	fmt.Fprintf(&b, ": %s (%s)", e.Detail, e.Class)
	return b.String()
}

func rankText(rank int) string {
	switch rank {
	case AnySource:
		return "any source"
	case ProcNull:
		return "no process"
	}
	return fmt.Sprint(rank)
}

func tagText(tag int) string {
	if tag == AnyTag {
		return "any"
	}
	return fmt.Sprint(tag)
}

// Is reports whether target is the class or the code of the error.
//
// C: MPI_Error_class, section 9.4.
func (e *Error) Is(target error) bool {
	c, ok := target.(Class)
	return ok && (c == e.Class || c == classOf(e.Class) || c.includes(e.Class))
}

// Unwrap returns the underlying cause, such as why a connection ended.
//
// C: MPI_Error_class, section 9.4.
func (e *Error) Unwrap() error { return e.cause }

// newError makes an Error about c, which may be nil, without peer and tag. It does not call the
// error handler: the caller raises the error when it does not hold the engine's lock.
func newError(cl Class, by call.Number, c *Comm, format string, args ...any) *Error {
	return &Error{Class: cl, Call: by.Go(), by: by, Object: c.Name(), Peer: Undefined, Tag: Undefined, Detail: fmt.Sprintf(format, args...), comm: c}
}

// fail makes an Error about c, which may be nil, and raises it. The caller does not hold the
// engine's lock.
func fail(cl Class, by call.Number, c *Comm, format string, args ...any) *Error {
	return newError(cl, by, c, format, args...).raised()
}

// failGone is fail for a call on c after c was freed, or before it was made. Only such errors go to
// the handler of self: errors of operations that were pending when the program freed c are errors
// of c, which exists until the last of them is complete.
func failGone(cl Class, k call.Number, c *Comm, detail string) *Error {
	e := newError(cl, k, c, "%s", detail)
	e.gone = true
	return e.raised()
}

// describe adds call, object, peer and tag to an error of the engine. It does not call the error
// handler: the caller raises the error when it does not hold the engine's lock.
func describe(err error, k call.Number, c *Comm, peer, tag int) *Error {
	if e, ok := err.(*Error); ok {
		return e // from a callback; it was described when the call started
	}
	e := &Error{Class: ErrOther, Call: k.Go(), by: k, Object: c.Name(), Peer: peer, Tag: tag, Detail: current.resolved(err.Error()), receive: k.Is(call.Source), cause: err, comm: c}
	var ce *class.Error
	if errors.As(err, &ce) {
		e.Class, e.cause = Class(ce.Class), ce.Cause
	}
	var busy *coll.Clash
	if errors.As(err, &busy) {
		e.Detail = clash(busy, c.Name())
	}
	return e
}

// wrap describes an error of the engine, unless it is nil, and raises it. The caller does not
// hold the engine's lock.
func wrap(err error, k call.Number, c *Comm, peer, tag int) error {
	if err == nil {
		return nil
	}
	return describe(err, k, c, peer, tag).raised()
}
