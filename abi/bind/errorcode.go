package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// errorClass is MPI_Error_class.
func (l *Lib) errorClass(code int) (mpi.Class, error) {
	if code < 0 || code > int(mpi.LastUsedCode()) {
		return 0, l.fail(mpi.ErrArg, call.ErrorClass, "%d is no error code", code)
	}
	return mpi.ErrorClass(mpi.Class(code)), nil
}

// errorString is MPI_Error_string.
func (l *Lib) errorString(code int) (string, error) {
	if code < 0 || code > int(mpi.LastUsedCode()) {
		return "", l.fail(mpi.ErrArg, call.ErrorString, "%d is no error code", code)
	}
	return mpi.ErrorString(mpi.Class(code)), nil
}
