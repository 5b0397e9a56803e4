package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Error is why a task has no result: its function has returned an error or panicked, or its worker
// has died. errors.Is finds the class of an error of package mpi, even if the error comes from a
// worker; the class for a worker that has died is mpi.ErrProcFailed. errors.Is finds context.Canceled
// and context.DeadlineExceeded, too. Other errors arrive as their text.
type Error struct {
	Func   string // name of the function
	Worker int    // rank of the worker; in a pool without ranks, its number from 0; -1 if no worker has the task
	Text   string // what has happened: the text of the error, or the value of the panic
	Stack  string // of the goroutine that has panicked, "" if none has

	cause error // a Class, an error of a context, or what this process has seen; may be nil
}

// Error says function, worker and what has happened, with the stack of a panic.
func (e *Error) Error() string {
	on := ""
	if e.Worker >= 0 {
		on = fmt.Sprintf(" on worker %d", e.Worker)
	}
	if e.Stack != "" {
		return fmt.Sprintf("pool: %s%s: panic: %s\n\n%s", e.Func, on, e.Text, e.Stack)
	}
	return fmt.Sprintf("pool: %s%s: %s", e.Func, on, e.Text)
}

// Unwrap returns the class of an error of package mpi, or the error of a context, or nil.
func (e *Error) Unwrap() error { return e.cause }

// The kinds of the cause of an error, by which a worker tells it to the master.
const (
	causeUnknown = iota
	causeCanceled
	causeDeadline
	causeClass // an error of package mpi; its class follows
)

// causeOf returns the kind of an error that a function has returned and, for causeClass, its class.
func causeOf(err error) (kind byte, class mpi.Class) {
	var e *mpi.Error
	switch {
	case errors.Is(err, context.Canceled):
		return causeCanceled, 0
	case errors.Is(err, context.DeadlineExceeded):
		return causeDeadline, 0
	case errors.As(err, &e):
		return causeClass, mpi.ErrorClass(err)
	case errors.As(err, &class):
		return causeClass, class
	}
	return causeUnknown, 0
}

// cause is the error that a kind and a class stand for.
func cause(kind byte, class mpi.Class) error {
	switch kind {
	case causeCanceled:
		return context.Canceled
	case causeDeadline:
		return context.DeadlineExceeded
	case causeClass:
		return class
	}
	return nil
}
