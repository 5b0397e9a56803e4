package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/mpi"
)

// dimsCreate is MPI_Dims_create.
func (l *Lib) dimsCreate(nodes, n int, dims array) error {
	switch {
	case n < 0:
		return l.fail(mpi.ErrDims, call.DimsCreate, "%d dimensions", n)
	case n > 0 && dims.null():
		return l.fail(mpi.ErrArg, call.DimsCreate, "the array of %d dimensions is null", n)
	}
	list := dims.ints(n)
	if err := mpi.DimsCreate(nodes, list); err != nil {
		return err
	}
	for i, d := range list {
		dims.set(i, d)
	}
	return nil
}
