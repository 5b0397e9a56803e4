package exit

import "fmt"

// Exit statuses of the launcher itself.
const (
	Usage      = 2   // a wrong command line
	Timeout    = 124 // the job has lasted longer than the user allows
	Launcher   = 125 // the launcher itself failed
	CannotRun  = 126 // the program cannot be executed or built
	NotFound   = 127 // there is no such program
	SignalBase = 128 // plus the number of the signal that ended a rank
)

// An Error is the reason why a job cannot start, with the launcher's exit status.
type Error struct {
	Status int
	Err    error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the reason without the status.
func (e *Error) Unwrap() error { return e.Err }

// NotFoundf returns an Error with status NotFound.
func NotFoundf(format string, args ...any) error {
	return &Error{NotFound, fmt.Errorf(format, args...)}
}

// CannotRunf returns an Error with status CannotRun.
func CannotRunf(format string, args ...any) error {
	return &Error{CannotRun, fmt.Errorf(format, args...)}
}
