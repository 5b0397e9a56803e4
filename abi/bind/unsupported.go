package bind

import (
	"strings"

	"github.com/halo-mpi/halo/mpi"
)

// unsupported is the error of a procedure that the engine does not have yet. It goes where
// the standard has errors of the procedure go: to the handler of the communicator or window
// among its arguments; of files, whose handlers are there only to return errors, nowhere; of
// calls that are given a handler for what they make, to that one if it is MPI_ERRORS_RETURN;
// else to that of MPI_COMM_SELF. What the procedure would make is the null handle: programs
// whose errors return would go on with a handle that nobody has set.
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

// commOf is the communicator of a handle, nil if it is of none.
func (l *Lib) commOf(h handle) *mpi.Comm {
	switch h {
	case commWorld:
		return l.world.Load()
	case commSelf:
		return l.world.Load().Self()
	}
	c, _ := l.comms.get(h)
	return c
}
