package mpi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halo-mpi/halo/internal/class"
)

// Class is an error class of the standard, with the values of the MPI-5 ABI. It
// is an error itself, to be used with errors.Is.
//
// C: MPI_Error_class, section 9.4.
type Class int

// The error classes that Halo's calls return.
//
// C: MPI_ERR_BUFFER and so on, section 9.4.
const (
	ErrBuffer               = Class(class.Buffer)               // invalid buffer
	ErrCount                = Class(class.Count)                // invalid count
	ErrType                 = Class(class.Type)                 // invalid element type
	ErrTag                  = Class(class.Tag)                  // invalid tag
	ErrComm                 = Class(class.Comm)                 // invalid communicator
	ErrRank                 = Class(class.Rank)                 // invalid rank
	ErrRequest              = Class(class.Request)              // invalid request
	ErrRoot                 = Class(class.Root)                 // invalid root
	ErrGroup                = Class(class.Group)                // invalid group
	ErrOp                   = Class(class.Op)                   // invalid operation for the element type
	ErrArg                  = Class(class.Arg)                  // invalid argument of another kind
	ErrUnknown              = Class(class.Unknown)              // unknown error
	ErrTruncate             = Class(class.Truncate)             // message longer than the receive buffer
	ErrOther                = Class(class.Other)                // known error not in this list
	ErrIntern               = Class(class.Intern)               // internal error
	ErrPending              = Class(class.Pending)              // request is still pending
	ErrInStatus             = Class(class.InStatus)             // the error is in the statuses
	ErrNoMem                = Class(class.NoMem)                // out of memory
	ErrUnsupportedOperation = Class(class.UnsupportedOperation) // not supported
	ErrProcAborted          = Class(class.ProcAborted)          // a process has aborted
	ErrProcFailed           = Class(class.ProcFailed)           // a process has failed
)

// String is the standard's name of the class.
//
// C: MPI_Error_string, section 9.4.
func (c Class) String() string {
	switch c {
	case ErrBuffer:
		return "MPI_ERR_BUFFER"
	case ErrCount:
		return "MPI_ERR_COUNT"
	case ErrType:
		return "MPI_ERR_TYPE"
	case ErrTag:
		return "MPI_ERR_TAG"
	case ErrComm:
		return "MPI_ERR_COMM"
	case ErrRank:
		return "MPI_ERR_RANK"
	case ErrRequest:
		return "MPI_ERR_REQUEST"
	case ErrRoot:
		return "MPI_ERR_ROOT"
	case ErrGroup:
		return "MPI_ERR_GROUP"
	case ErrOp:
		return "MPI_ERR_OP"
	case ErrArg:
		return "MPI_ERR_ARG"
	case ErrUnknown:
		return "MPI_ERR_UNKNOWN"
	case ErrTruncate:
		return "MPI_ERR_TRUNCATE"
	case ErrOther:
		return "MPI_ERR_OTHER"
	case ErrIntern:
		return "MPI_ERR_INTERN"
	case ErrPending:
		return "MPI_ERR_PENDING"
	case ErrInStatus:
		return "MPI_ERR_IN_STATUS"
	case ErrNoMem:
		return "MPI_ERR_NO_MEM"
	case ErrUnsupportedOperation:
		return "MPI_ERR_UNSUPPORTED_OPERATION"
	case ErrProcAborted:
		return "MPI_ERR_PROC_ABORTED"
	case ErrProcFailed:
		return "MPI_ERR_PROC_FAILED"
	}
	return fmt.Sprintf("MPI_ERR(%d)", int(c))
}

// Error makes a Class an error.
//
// C: MPI_Error_string, section 9.4.
func (c Class) Error() string { return c.String() }

// Error is what calls of this package return. errors.Is matches it with its
// Class, and errors.Unwrap leads to the cause, if there is one beneath.
//
// C: MPI_Error_class and MPI_Error_string, section 9.4.
type Error struct {
	Class  Class
	Call   string // the function or method, such as "Recv"
	Object string // the communicator's name, "" if none is concerned
	Peer   int    // rank of the other side; Undefined if none is concerned
	Tag    int    // Undefined if none is concerned
	Detail string // what happened, with numbers

	receive bool  // Peer is a source
	cause   error // may be nil
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

// Is reports whether target is the error's class.
//
// C: MPI_Error_class, section 9.4.
func (e *Error) Is(target error) bool {
	c, ok := target.(Class)
	return ok && c == e.Class
}

// Unwrap returns the cause beneath, such as why a connection ended.
//
// C: MPI_Error_class, section 9.4.
func (e *Error) Unwrap() error { return e.cause }

// fail makes an Error that concerns neither peer nor tag.
func fail(cl Class, call, object, format string, args ...any) *Error {
	return &Error{Class: cl, Call: call, Object: object, Peer: Undefined, Tag: Undefined, Detail: fmt.Sprintf(format, args...)}
}

// wrap gives an error of the engine its call, object, peer and tag.
func wrap(err error, k call, c *Comm, peer, tag int) error {
	if err == nil {
		return nil
	}
	e := &Error{Class: ErrOther, Call: k.String(), Object: c.Name(), Peer: peer, Tag: tag, Detail: err.Error(), receive: k.receives(), cause: err}
	var ce *class.Error
	if errors.As(err, &ce) {
		e.Class, e.cause = Class(ce.Class), ce.Cause
	}
	return e
}
