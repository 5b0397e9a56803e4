// Package class holds the error classes of MPI with the values of the MPI-5
// standard ABI, and the error that the engine returns. Package mpi adds the
// call, the object and the peer.
package class

import (
	"errors"
	"fmt"
)

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
	Access               Class = 20
	Amode                Class = 21
	Assert               Class = 22
	BadFile              Class = 23
	Base                 Class = 24
	Conversion           Class = 25
	Disp                 Class = 26
	DupDatarep           Class = 27
	FileExists           Class = 28
	FileInUse            Class = 29
	File                 Class = 30
	InfoKey              Class = 31
	InfoNoKey            Class = 32
	InfoValue            Class = 33
	Info                 Class = 34
	IO                   Class = 35
	Keyval               Class = 36
	LockType             Class = 37
	Name                 Class = 38
	NoMem                Class = 39
	NotSame              Class = 40
	NoSpace              Class = 41
	NoSuchFile           Class = 42
	Port                 Class = 43
	Quota                Class = 44
	ReadOnly             Class = 45
	RMAAttach            Class = 46
	RMAConflict          Class = 47
	RMARange             Class = 48
	RMAShared            Class = 49
	RMASync              Class = 50
	Service              Class = 51
	Size                 Class = 52
	Spawn                Class = 53
	UnsupportedDatarep   Class = 54
	UnsupportedOperation Class = 55
	Win                  Class = 56
	RMAFlavor            Class = 57
	ProcAborted          Class = 58
	ValueTooLarge        Class = 59
	Session              Class = 60
	Errhandler           Class = 61
	ABI                  Class = 62

	// LastCode is the highest value that the standard reserves. Higher values are
	// Halo's own (ProcFailed and WinCounter) and then those that users add.
	LastCode Class = 16383
	// ProcFailed is the class of errors of calls that need a process that has died.
	ProcFailed Class = 16384
	// WinCounter is the class of errors of a synchronisation object that has counted more
	// signals than its program waits for. Such an error also counts as an RMASync.
	WinCounter Class = 16385
	// LastPredefined is the highest class that exists from the start.
	LastPredefined = WinCounter
)

// Describe returns the standard's name of a class that exists from the start,
// and what it means; empty strings for others.
func Describe(c Class) (name, text string) {
	if c == ProcFailed {
		return "MPI_ERR_PROC_FAILED", "a process has failed"
	}
	if c == WinCounter {
		return "MPI_ERR_WIN_COUNTER", "invalid value of a synchronisation object's counter"
	}
	table := [...][2]string{
		Success:              {"MPI_SUCCESS", "no error"},
		Buffer:               {"MPI_ERR_BUFFER", "invalid buffer"},
		Count:                {"MPI_ERR_COUNT", "invalid count"},
		Type:                 {"MPI_ERR_TYPE", "invalid element type"},
		Tag:                  {"MPI_ERR_TAG", "invalid tag"},
		Comm:                 {"MPI_ERR_COMM", "invalid communicator"},
		Rank:                 {"MPI_ERR_RANK", "invalid rank"},
		Request:              {"MPI_ERR_REQUEST", "invalid request"},
		Root:                 {"MPI_ERR_ROOT", "invalid root"},
		Group:                {"MPI_ERR_GROUP", "invalid group"},
		Op:                   {"MPI_ERR_OP", "invalid operation for the element type"},
		Topology:             {"MPI_ERR_TOPOLOGY", "invalid topology"},
		Dims:                 {"MPI_ERR_DIMS", "invalid dimensions"},
		Arg:                  {"MPI_ERR_ARG", "invalid argument of another kind"},
		Unknown:              {"MPI_ERR_UNKNOWN", "unknown error"},
		Truncate:             {"MPI_ERR_TRUNCATE", "message longer than the receive buffer"},
		Other:                {"MPI_ERR_OTHER", "known error not in this list"},
		Intern:               {"MPI_ERR_INTERN", "internal error"},
		Pending:              {"MPI_ERR_PENDING", "request is still pending"},
		InStatus:             {"MPI_ERR_IN_STATUS", "the error is in the statuses"},
		Access:               {"MPI_ERR_ACCESS", "permission denied"},
		Amode:                {"MPI_ERR_AMODE", "invalid access mode of a file"},
		Assert:               {"MPI_ERR_ASSERT", "invalid assertion"},
		BadFile:              {"MPI_ERR_BAD_FILE", "invalid file name"},
		Base:                 {"MPI_ERR_BASE", "invalid base of memory"},
		Conversion:           {"MPI_ERR_CONVERSION", "a data conversion function has failed"},
		Disp:                 {"MPI_ERR_DISP", "invalid displacement"},
		DupDatarep:           {"MPI_ERR_DUP_DATAREP", "data representation is defined already"},
		FileExists:           {"MPI_ERR_FILE_EXISTS", "file exists"},
		FileInUse:            {"MPI_ERR_FILE_IN_USE", "file is in use"},
		File:                 {"MPI_ERR_FILE", "invalid file"},
		InfoKey:              {"MPI_ERR_INFO_KEY", "info key is empty or too long"},
		InfoNoKey:            {"MPI_ERR_INFO_NOKEY", "info object has no such key"},
		InfoValue:            {"MPI_ERR_INFO_VALUE", "info value is too long"},
		Info:                 {"MPI_ERR_INFO", "invalid info object"},
		IO:                   {"MPI_ERR_IO", "input or output has failed"},
		Keyval:               {"MPI_ERR_KEYVAL", "invalid attribute key"},
		LockType:             {"MPI_ERR_LOCKTYPE", "invalid type of lock"},
		Name:                 {"MPI_ERR_NAME", "service name is not published"},
		NoMem:                {"MPI_ERR_NO_MEM", "out of memory"},
		NotSame:              {"MPI_ERR_NOT_SAME", "collective argument differs between members"},
		NoSpace:              {"MPI_ERR_NO_SPACE", "not enough space"},
		NoSuchFile:           {"MPI_ERR_NO_SUCH_FILE", "no such file"},
		Port:                 {"MPI_ERR_PORT", "invalid port"},
		Quota:                {"MPI_ERR_QUOTA", "quota exceeded"},
		ReadOnly:             {"MPI_ERR_READ_ONLY", "file or file system is read-only"},
		RMAAttach:            {"MPI_ERR_RMA_ATTACH", "memory cannot be attached"},
		RMAConflict:          {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
		RMARange:             {"MPI_ERR_RMA_RANGE", "target memory is not part of the window"},
		RMAShared:            {"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
		RMASync:              {"MPI_ERR_RMA_SYNC", "wrong synchronization of a window"},
		Service:              {"MPI_ERR_SERVICE", "service name cannot be published"},
		Size:                 {"MPI_ERR_SIZE", "invalid size"},
		Spawn:                {"MPI_ERR_SPAWN", "processes could not be started"},
		UnsupportedDatarep:   {"MPI_ERR_UNSUPPORTED_DATAREP", "data representation is not supported"},
		UnsupportedOperation: {"MPI_ERR_UNSUPPORTED_OPERATION", "operation is not supported"},
		Win:                  {"MPI_ERR_WIN", "invalid window"},
		RMAFlavor:            {"MPI_ERR_RMA_FLAVOR", "wrong flavor of a window"},
		ProcAborted:          {"MPI_ERR_PROC_ABORTED", "a process has aborted"},
		ValueTooLarge:        {"MPI_ERR_VALUE_TOO_LARGE", "value does not fit its variable"},
		Session:              {"MPI_ERR_SESSION", "invalid session"},
		Errhandler:           {"MPI_ERR_ERRHANDLER", "invalid error handler"},
		ABI:                  {"MPI_ERR_ABI", "wrong or incompatible binary interface"},
	}
	if c < 0 || int(c) >= len(table) {
		return "", ""
	}
	return table[c][0], table[c][1]
}

// Error is a failure with its class; Text describes it, with numbers.
type Error struct {
	Class Class
	Text  string
	Cause error // may be nil
}

// Errorf makes an error of a class. The format may have one verb %w, as that of fmt.Errorf: its
// argument is the cause.
func Errorf(c Class, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Class: c, Text: err.Error(), Cause: errors.Unwrap(err)}
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
