package bind

import (
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

// unsupported raises the error of a procedure that the engine does not have yet, where the
// standard raises errors of the procedure: on the communicator or window among its arguments,
// otherwise on MPI_COMM_SELF. Procedures of files, whose default error handler is
// MPI_ERRORS_RETURN, only return the error, and so do procedures that are given
// MPI_ERRORS_RETURN as the error handler of a new object. The handles that the procedure would
// return become null: a program whose errors return would otherwise use uninitialised handles.
func (l *Lib) unsupported(p *procedure, a args) error {
	for _, m := range outcomes[p.makes] {
		if a.result(m.i) != nil {
			a.setWord(m.i, m.null)
		}
	}
	const why = "Halo does not have it yet"
	if strings.HasPrefix(p.String(), "MPI_File_") || p.handler > 0 && a.word(int(p.handler)-1) == errorsReturn {
		return newError(mpi.ErrUnsupportedOperation, p.String(), why)
	}
	return l.failIn(p.String(), a, mpi.ErrUnsupportedOperation, why)
}

// commOf returns the communicator of a handle, nil if the handle is invalid.
func (l *Lib) commOf(h handle) *mpi.Comm {
	switch world := l.world.Load(); {
	case world == nil:
	case h == commWorld:
		return world
	case h == commSelf:
		return world.Self()
	}
	c, _ := l.comms.get(h)
	return c
}
