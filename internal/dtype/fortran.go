package dtype

import "github.com/halo-mpi/halo/internal/class"

// Fortran holds the sizes in bytes of the basic types of a Fortran compiler. COMPLEX is two
// REAL, DOUBLE COMPLEX two DOUBLE PRECISION.
type Fortran struct {
	Logical, Integer, Real, DoublePrecision int
}

// DefaultFortran returns the sizes that compilers use without options that change them.
func DefaultFortran() Fortran { return Fortran{4, 4, 4, 8} }

// Check returns an error of class ABI unless each type has a representation of its size.
func (f Fortran) Check() error {
	for _, x := range []struct {
		name string
		size int
	}{{"LOGICAL", f.Logical}, {"INTEGER", f.Integer}} {
		switch x.size {
		case 1, 2, 4, 8, 16:
		default:
			return class.Errorf(class.ABI, "%s of %d bytes, want 1, 2, 4, 8 or 16", x.name, x.size)
		}
	}
	for _, x := range []struct {
		name string
		size int
	}{{"REAL", f.Real}, {"DOUBLE PRECISION", f.DoublePrecision}} {
		if realFormat(x.size) == 0 {
			return class.Errorf(class.ABI, "%s of %d bytes, want 2, 4, 8 or 16", x.name, x.size)
		}
	}
	return nil
}

// realFormat is the format of a REAL of size bytes, 0 if there is none.
func realFormat(size int) Format {
	switch size {
	case 2:
		return Half
	case 4:
		return Single
	case 8:
		return Double64
	case 16:
		return Quad
	}
	return 0
}

// elements are the basic types whose sizes the compiler chooses.
func (f Fortran) elements() []*Elem {
	e, single, double := newElem, realFormat(f.Real), realFormat(f.DoublePrecision)
	return []*Elem{
		e(FortranLogical, "MPI_LOGICAL", int64(f.Logical), Logical, 0, 0),
		e(FortranInteger, "MPI_INTEGER", int64(f.Integer), Integer, 0, 0),
		e(FortranReal, "MPI_REAL", int64(f.Real), Floating, single, 0),
		e(FortranComplex, "MPI_COMPLEX", 2*int64(f.Real), Complex, single, 0),
		e(DoublePrecision, "MPI_DOUBLE_PRECISION", int64(f.DoublePrecision), Floating, double, 0),
		e(DoubleComplex, "MPI_DOUBLE_COMPLEX", 2*int64(f.DoublePrecision), Complex, double, 0),
	}
}
