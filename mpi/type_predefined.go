package mpi

import (
	"iter"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Predefined is the predefined type with a name of the standard, such as
// "MPI_DOUBLE" or "MPI_INTEGER8": for data that C and Fortran have made. A name that
// there is not is ErrArg.
//
// C: MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_INTEGER, MPI_DOUBLE_INT and so on, sections 3.2.2, 6.9.4 and A.1.1.
func Predefined(name string) (Datatype, error) {
	switch name {
	case handleTypeName: // SetName does not change what it goes by here
		return types().lasting(types().Handle()), nil
	case "MPI_LONG_LONG": // synonyms, and so not what Name tells
		name = "MPI_LONG_LONG_INT"
	case "MPI_C_FLOAT_COMPLEX":
		name = "MPI_C_COMPLEX"
	}
	t := types().Named(name)
	if t == nil {
		return Datatype{}, fail(ErrArg, "Predefined", nil, "%q is not the name of a type", name)
	}
	return types().lasting(t), nil
}

// handleTypeName is the name of the type of handles of synchronisation objects.
const handleTypeName = "MPIX_HANDLE_SYNC"

// PredefinedTypes yields all predefined types with the names that Predefined knows
// them by, in the order of the values that they have in C. The two that have a
// second name come once.
//
// C: MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_INTEGER, MPI_DOUBLE_INT and so on, sections 3.2.2, 6.9.4 and A.1.1.
func PredefinedTypes() iter.Seq2[string, Datatype] {
	return func(yield func(string, Datatype) bool) {
		s := types()
		more := true
		s.Each(func(id dtype.ID, t *dtype.Type) {
			more = more && yield(s.Name(id), s.lasting(t))
		})
	}
}

// Byte is the type of a byte that is not looked at: it matches data of any type, and
// is never converted.
//
// C: MPI_BYTE, section 3.3.2.
func Byte() Datatype { return types().lasting(types().Type(dtype.Byte)) }

// Packed is the type of what Pack has made: that can be sent as bytes of Packed and
// received as what it was packed of, or the other way round.
//
// C: MPI_PACKED, section 5.2.
func Packed() Datatype { return types().lasting(types().Type(dtype.Packed)) }

// TypeF90Real is the type of REAL(KIND=selected_real_kind(p, r)) of Fortran: of p
// decimal digits and a range of exponents of r. One of them may be Undefined. The
// type is predefined, the same ones give the same type, and it matches no other.
// What no REAL has is ErrArg.
//
// C: MPI_Type_create_f90_real, section 19.1.9.
func TypeF90Real(p, r int) (Datatype, error) {
	return constructor("TypeF90Real").once(types().F90Real(p, r))
}

// TypeF90Complex is TypeF90Real for COMPLEX.
//
// C: MPI_Type_create_f90_complex, section 19.1.9.
func TypeF90Complex(p, r int) (Datatype, error) {
	return constructor("TypeF90Complex").once(types().F90Complex(p, r))
}

// TypeF90Integer is the type of INTEGER(KIND=selected_int_kind(r)) of Fortran: of r
// decimal digits. It is as those of TypeF90Real.
//
// C: MPI_Type_create_f90_integer, section 19.1.9.
func TypeF90Integer(r int) (Datatype, error) {
	return constructor("TypeF90Integer").once(types().F90Integer(r))
}

// Typeclass is a class of types of Fortran.
//
// C: MPI_TYPECLASS_INTEGER and so on, section 19.1.9.
type Typeclass int

// The classes of types.
//
// C: MPIX_TYPECLASS_LOGICAL, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX, section 19.1.9.
const (
	TypeclassLogical = Typeclass(dtype.TypeclassLogical)
	TypeclassInteger = Typeclass(dtype.TypeclassInteger)
	TypeclassReal    = Typeclass(dtype.TypeclassReal)
	TypeclassComplex = Typeclass(dtype.TypeclassComplex)
)

// TypeMatchSize is the predefined type of Fortran with a class and a size in bytes:
// TypeclassReal and 8 give MPI_REAL8. If there is none that is ErrArg.
//
// C: MPI_Type_match_size, section 19.1.9.
func TypeMatchSize(c Typeclass, size int) (Datatype, error) {
	return constructor("TypeMatchSize").once(types().MatchSize(dtype.Typeclass(c), int64(size)))
}

// TypeValueIndex is the predefined type of pairs of a value and an index, on which
// Minloc and Maxloc work, or the null type if there is none: values are integers of up
// to 8 bytes and reals of 4 and more, and indices signed integers of 4 or 8 bytes. It
// is named where the standard has a name for the two, as MPI_DOUBLE_INT.
//
// C: MPI_Type_get_value_index, section 6.9.4.
func TypeValueIndex(value, index Datatype) (Datatype, error) {
	const call = constructor("TypeValueIndex")
	v, err := value.use(string(call))
	if err != nil {
		return Datatype{}, err
	}
	i, err := index.use(string(call))
	if err != nil {
		return Datatype{}, err
	}
	t, failed := types().ValueIndex(v, i)
	if t == nil && failed == nil {
		return Datatype{}, nil
	}
	return call.once(t, failed)
}
