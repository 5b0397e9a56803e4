// Package class holds the error classes of MPI with the values of the MPI-5
// standard ABI, and the error that the engine returns. Package mpi adds the
// call, the object and the peer.
package class

// Class is an error class of the standard.
type Class int

// The classes, MPI_ERR_* of the standard.
const (
	Success              Class = 0
	Buffer               Class = 1
	Count                Class = 2
	Type                 Class = 3
	Tag                  Class = 4
	Comm                 Class = 5
	Rank                 Class = 6
	Request              Class = 7
	Root                 Class = 8
	Group                Class = 9
	Op                   Class = 10
	Topology             Class = 11
	Dims                 Class = 12
	Arg                  Class = 13
	Unknown              Class = 14
	Truncate             Class = 15
	Other                Class = 16
	Intern               Class = 17
	Pending              Class = 18
	InStatus             Class = 19
	NoMem                Class = 39
	UnsupportedOperation Class = 55
	ProcAborted          Class = 58
	ValueTooLarge        Class = 59
	Session              Class = 60
	Errhandler           Class = 61
	LastCode             Class = 16383

	// ProcFailed is raised when a call involves a process that has died. It
	// lies beyond the classes of the standard.
	ProcFailed Class = 16384
)

// Error is a failure with its class; Text says what happened, with numbers.
type Error struct {
	Class Class
	Text  string
	Cause error // may be nil
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
