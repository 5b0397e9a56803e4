package mpi

import (
	"sync"

	"github.com/halo-mpi/halo/internal/dtype"
)

// fortranSizes are the sizes of Fortran's types in this process: they can be set until a type
// is needed.
type fortranSizes struct {
	mu    sync.Mutex
	sizes dtype.Fortran // all zero: not set
	fixed bool
}

// FortranSizes says how many bytes LOGICAL, INTEGER, REAL and DOUBLE PRECISION have for the
// compiler of Fortran: MPI_LOGICAL, MPI_INTEGER and so on, and MPI_COMPLEX, MPI_2INTEGER and
// their like, then have these sizes. Without it they are 4, 4, 4 and 8. It is to be called
// before Init, with the same sizes in all processes; the first call holds. ErrABI if it comes
// too late, or if there is no representation of that size.
//
// C: MPI_Abi_set_fortran_info, section 20.4.
func (internals) FortranSizes(logical, integer, real, doublePrecision int) error {
	const call = "FortranSizes"
	f := dtype.Fortran{Logical: logical, Integer: integer, Real: real, DoublePrecision: doublePrecision}
	if err := f.Check(); err != nil {
		return typesError(call, err)
	}
	c := &current.fortran
	c.mu.Lock()
	late := c.fixed || c.sizes != dtype.Fortran{}
	if !late {
		c.sizes = f
	}
	c.mu.Unlock()
	if late {
		return fail(ErrABI, call, nil, "called twice, or after datatypes were used")
	}
	return nil
}

// fixFortran is the sizes of Fortran's types, from now on for good.
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
