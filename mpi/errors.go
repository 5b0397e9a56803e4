package mpi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
)

// Error is what calls of this package return. errors.Is matches it with its
// Class, and errors.Unwrap leads to the cause, if there is one beneath.
//
// C: MPI_Error_class and MPI_Error_string, section 9.4.
type Error struct {
	Class  Class
	Call   string // the function or method, such as "Recv"
	Object string // the name of the communicator, window or datatype, "" if none is concerned
	Peer   int    // rank of the other side; Undefined if none is concerned
	Tag    int    // Undefined if none is concerned
	Detail string // what happened, with numbers

	receive bool  // Peer is a source
	told    bool  // the error handler has been called, or is not to be
	cause   error // may be nil
	comm    *Comm // whose error handler is to be called, or its window's; may be nil
}

// NameCalls has name say what the call of an error is named, before the error handler hears
// of it: it gets the name of the function or method of this package, and is called by the
// goroutine whose call has failed. That is for libraries on top that have names of their
// own for what they offer, such as bindings of other languages. It holds in the whole
// process; nil undoes it.
//
// C: none; messages of error handlers, section 9.3.
func (internals) NameCalls(name func(call string) string) {
	if name == nil {
		current.names.Store(nil)
		return
	}
	current.names.Store(&name)
}

// DescribeErrors has describe change the text of every error, before the error handler hears
// of it and after NameCalls. That is for bindings of other languages, where what the text
// speaks of has other names. It is called by the goroutine whose call has failed; nil undoes it.
//
// C: none; messages of error handlers, section 9.3.
func (internals) DescribeErrors(describe func(e *Error)) {
	if describe == nil {
		current.texts.Store(nil)
		return
	}
	current.texts.Store(&describe)
}

// Error tells call, object, peer, tag and what happened.
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

// Is reports whether target is the error's class, or its code.
//
// C: MPI_Error_class, section 9.4.
func (e *Error) Is(target error) bool {
	c, ok := target.(Class)
	return ok && (c == e.Class || c == classOf(e.Class) || c.includes(e.Class))
}

// Unwrap returns the cause beneath, such as why a connection ended.
//
// C: MPI_Error_class, section 9.4.
func (e *Error) Unwrap() error { return e.cause }

// newError makes an Error about c, which may be nil, that concerns neither peer
// nor tag. Nobody is told yet: raise it, without the engine's lock.
func newError(cl Class, call string, c *Comm, format string, args ...any) *Error {
	return &Error{Class: cl, Call: call, Object: c.Name(), Peer: Undefined, Tag: Undefined, Detail: fmt.Sprintf(format, args...), comm: c}
}

// fail makes an Error about c, which may be nil, and raises it. The engine's
// lock is not held.
func fail(cl Class, call string, c *Comm, format string, args ...any) *Error {
	return newError(cl, call, c, format, args...).raised()
}

// describe gives an error of the engine its call, object, peer and tag. Nobody
// is told yet: raise it, without the engine's lock.
func describe(err error, k call, c *Comm, peer, tag int) *Error {
	if e, ok := err.(*Error); ok {
		return e // of a callback, found at the start
	}
	e := &Error{Class: ErrOther, Call: k.String(), Object: c.Name(), Peer: peer, Tag: tag, Detail: err.Error(), receive: k.receives(), cause: err, comm: c}
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

// wrap describes an error of the engine, if it is one, and raises it. The
// engine's lock is not held.
func wrap(err error, k call, c *Comm, peer, tag int) error {
	if err == nil {
		return nil
	}
	return describe(err, k, c, peer, tag).raised()
}
