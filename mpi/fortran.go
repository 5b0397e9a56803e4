package mpi

import (
	"sync"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
)

// fortranSizes are the sizes of Fortran's types in this process. They can be set until the
// predefined types are first used.
type fortranSizes struct {
	mu    sync.Mutex
	sizes dtype.Fortran // all zero: not set
	fixed bool
}

// FortranSizes sets the sizes in bytes of LOGICAL, INTEGER, REAL and DOUBLE PRECISION in the
// program's Fortran compiler. They are the sizes of MPI_LOGICAL, MPI_INTEGER and so on, and
// determine those of MPI_COMPLEX, MPI_2INTEGER and the like. The defaults are 4, 4, 4 and 8. It
// must be called before Init, with the same sizes in all processes; later calls have no effect.
// ErrABI if the types are already in use, or if there is no representation of a given size.
//
// C: MPI_Abi_set_fortran_info, section 20.4.
func (internals) FortranSizes(logical, integer, real, doublePrecision int) error {
	const by = call.AbiSetFortranInfo
	f := dtype.Fortran{Logical: logical, Integer: integer, Real: real, DoublePrecision: doublePrecision}
	if err := f.Check(); err != nil {
		return typesError(by, err)
	}
	c := &current.fortran
	c.mu.Lock()
	late := c.fixed || c.sizes != dtype.Fortran{}
	if !late {
		c.sizes = f
	}
	c.mu.Unlock()
	if late {
		return fail(ErrABI, by, nil, "called twice, or after datatypes were used")
	}
	return nil
}

// fixFortran returns the sizes of Fortran's types, and forbids further changes.
func fixFortran() dtype.Fortran {
	c := &current.fortran
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fixed = true
	if c.sizes == (dtype.Fortran{}) {
		return dtype.DefaultFortran()
	}
	return c.sizes
}
