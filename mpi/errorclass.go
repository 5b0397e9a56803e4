package mpi

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
)

// Class is an error class of the standard, with its value of the MPI-5 ABI, or a class or code
// that AddErrorClass or AddErrorCode made. It is an error itself, for use with errors.Is.
//
// C: MPI_Error_class, section 9.4.
type Class int

// The error classes of the standard, and ErrProcFailed and ErrWinCounter. Halo never returns the
// classes of features that it does not have yet, nor ErrProcAborted: Abort ends all processes of the job, and
// those of other jobs that were connected with it get ErrProcFailed, which says that a process has ended, in
// whatever way. errors.Is matches an ErrWinCounter with
// ErrRMASync as well.
//
// C: MPI_ERR_BUFFER and so on, section 9.4.
const (
	Success                 = Class(class.Success)              // no error
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
	ErrTopology             = Class(class.Topology)             // invalid topology
	ErrDims                 = Class(class.Dims)                 // invalid dimensions
	ErrArg                  = Class(class.Arg)                  // invalid argument of another kind
	ErrUnknown              = Class(class.Unknown)              // unknown error
	ErrTruncate             = Class(class.Truncate)             // message longer than the receive buffer
	ErrOther                = Class(class.Other)                // known error not in this list
	ErrIntern               = Class(class.Intern)               // internal error
	ErrPending              = Class(class.Pending)              // request is still pending
	ErrInStatus             = Class(class.InStatus)             // the error is in the statuses
	ErrAccess               = Class(class.Access)               // permission denied
	ErrAmode                = Class(class.Amode)                // invalid access mode of a file
	ErrAssert               = Class(class.Assert)               // invalid assertion
	ErrBadFile              = Class(class.BadFile)              // invalid file name
	ErrBase                 = Class(class.Base)                 // invalid base of memory
	ErrConversion           = Class(class.Conversion)           // a data conversion function has failed
	ErrDisp                 = Class(class.Disp)                 // invalid displacement
	ErrDupDatarep           = Class(class.DupDatarep)           // data representation is defined already
	ErrFileExists           = Class(class.FileExists)           // file exists
	ErrFileInUse            = Class(class.FileInUse)            // file is in use
	ErrFile                 = Class(class.File)                 // invalid file
	ErrInfoKey              = Class(class.InfoKey)              // info key is empty or too long
	ErrInfoNoKey            = Class(class.InfoNoKey)            // info object has no such key
	ErrInfoValue            = Class(class.InfoValue)            // info value is too long
	ErrInfo                 = Class(class.Info)                 // invalid info object
	ErrIO                   = Class(class.IO)                   // input or output has failed
	ErrKeyval               = Class(class.Keyval)               // invalid attribute key
	ErrLockType             = Class(class.LockType)             // invalid type of lock
	ErrName                 = Class(class.Name)                 // service name is not published
	ErrNoMem                = Class(class.NoMem)                // out of memory
	ErrNotSame              = Class(class.NotSame)              // collective argument differs between members
	ErrNoSpace              = Class(class.NoSpace)              // not enough space
	ErrNoSuchFile           = Class(class.NoSuchFile)           // no such file
	ErrPort                 = Class(class.Port)                 // invalid port
	ErrQuota                = Class(class.Quota)                // quota exceeded
	ErrReadOnly             = Class(class.ReadOnly)             // file or file system is read-only
	ErrRMAAttach            = Class(class.RMAAttach)            // memory cannot be attached
	ErrRMAConflict          = Class(class.RMAConflict)          // conflicting accesses to a window
	ErrRMARange             = Class(class.RMARange)             // target memory is not part of the window
	ErrRMAShared            = Class(class.RMAShared)            // memory cannot be shared
	ErrRMASync              = Class(class.RMASync)              // wrong synchronization of a window
	ErrService              = Class(class.Service)              // service name cannot be published
	ErrSize                 = Class(class.Size)                 // invalid size
	ErrSpawn                = Class(class.Spawn)                // processes could not be started
	ErrUnsupportedDatarep   = Class(class.UnsupportedDatarep)   // data representation is not supported
	ErrUnsupportedOperation = Class(class.UnsupportedOperation) // operation is not supported
	ErrWin                  = Class(class.Win)                  // invalid window
	ErrRMAFlavor            = Class(class.RMAFlavor)            // wrong flavor of a window
	ErrProcAborted          = Class(class.ProcAborted)          // a process has aborted; never returned
	ErrValueTooLarge        = Class(class.ValueTooLarge)        // value does not fit its variable
	ErrSession              = Class(class.Session)              // invalid session
	ErrErrhandler           = Class(class.Errhandler)           // invalid error handler
	ErrABI                  = Class(class.ABI)                  // wrong or incompatible binary interface
	ErrLastCode             = Class(class.LastCode)             // largest value of a class that the standard defines
	ErrProcFailed           = Class(class.ProcFailed)           // a process has failed
	ErrWinCounter           = Class(class.WinCounter)           // a synchronisation object has counted more signals than are waited for
)

// String is the standard's name of the class, or the text of a class or code that was added.
//
// C: MPI_Error_string, section 9.4.
func (c Class) String() string {
	if name, _ := class.Describe(class.Class(c)); name != "" {
		return name
	}
	if text := added.text(c); text != "" {
		return text
	}
	return fmt.Sprintf("MPI_ERR(%d)", int(c))
}

// Error makes a Class an error.
//
// C: MPI_Error_string, section 9.4.
func (c Class) Error() string { return c.String() }

// Is reports whether target is c or, if c is an added code, the class of c.
//
// C: MPI_Error_class, section 9.4.
func (c Class) Is(target error) bool {
	t, ok := target.(Class)
	return ok && (t == c || t == classOf(c) || t.includes(c))
}

// includes reports whether errors of class c count as errors of class t, too.
func (t Class) includes(c Class) bool { return t == ErrRMASync && c == ErrWinCounter }

// MaxErrorString is the maximum length in bytes of the result of ErrorString.
//
// C: MPI_MAX_ERROR_STRING, section 9.4.
const MaxErrorString = 511

// ErrorClass is the class of an error. For an *Error or Class that err is or wraps, it is its
// class; for an added code, the class of the code. It is Success for nil, and ErrUnknown for
// other errors.
//
// C: MPI_Error_class, section 9.4.
func ErrorClass(err error) Class {
	if err == nil {
		return Success
	}
	if c, ok := findCode(err); ok {
		return classOf(c)
	}
	return ErrUnknown
}

// findCode returns the error code that err is or wraps.
func findCode(err error) (Class, bool) {
	var e *Error
	if errors.As(err, &e) {
		return e.Class, true
	}
	var c Class
	ok := errors.As(err, &c)
	return c, ok
}

// codeOf is the code of an error of the program, or ErrOther if it has none.
func codeOf(err error) Class {
	if c, ok := findCode(err); ok {
		return c
	}
	return ErrOther
}

// ErrorString describes an error class or code. An added one without a text has the empty
// string.
//
// C: MPI_Error_string, section 9.4.
func ErrorString(c Class) string {
	if name, text := class.Describe(class.Class(c)); name != "" {
		return name + ": " + text
	}
	return added.text(c)
}
