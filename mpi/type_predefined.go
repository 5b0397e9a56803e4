package mpi

import (
	"iter"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Predefined is the predefined type with a name of the standard, such as "MPI_DOUBLE" or
// "MPI_INTEGER8", for data of C and Fortran. ErrArg if there is no type of that name.
//
// C: MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_INTEGER, MPI_DOUBLE_INT and so on, sections 3.2.2, 6.9.4 and A.1.1.
func Predefined(name string) (Datatype, error) {
	switch name {
	case handleTypeName: // its name here does not depend on SetName
		return types().lasting(types().Handle()), nil
	case "MPI_LONG_LONG": // synonyms, which Name does not return
		name = "MPI_LONG_LONG_INT"
	case "MPI_C_FLOAT_COMPLEX":
		name = "MPI_C_COMPLEX"
	}
	t := types().Named(name)
	if t == nil {
		return Datatype{}, fail(ErrArg, call.Predefined, nil, "%q is not the name of a type", name)
	}
	return types().lasting(t), nil
}

// handleTypeName is the name of the type of synchronisation objects' handles.
const handleTypeName = "MPIX_HANDLE_SYNC"

// PredefinedTypes yields all predefined types with the names that Predefined accepts, in the
// order of their values in C. The two types that have a second name are yielded once.
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

// Byte is the type of an uninterpreted byte: it matches data of any type and is never converted.
//
// C: MPI_BYTE, section 3.3.2.
func Byte() Datatype { return types().lasting(types().Type(dtype.Byte)) }

// Packed is the type of data that Pack made: it can be sent as elements of Packed and received
// with the types that were packed, or the other way round.
//
// C: MPI_PACKED, section 5.2.
func Packed() Datatype { return types().lasting(types().Type(dtype.Packed)) }

// TypeF90Real is the type of REAL(KIND=selected_real_kind(p, r)) of Fortran, with p decimal
// digits and exponent range r. One of them may be Undefined. The type is predefined, equal
// arguments return the same type, and it matches no other type. ErrArg if there is no such REAL.
//
// C: MPI_Type_create_f90_real, section 19.1.9.
func TypeF90Real(p, r int) (Datatype, error) {
	return constructor(call.TypeCreateF90Real).once(types().F90Real(p, r))
}

// TypeF90Complex is TypeF90Real for COMPLEX.
//
// C: MPI_Type_create_f90_complex, section 19.1.9.
func TypeF90Complex(p, r int) (Datatype, error) {
	return constructor(call.TypeCreateF90Complex).once(types().F90Complex(p, r))
}

// TypeF90Integer is the type of INTEGER(KIND=selected_int_kind(r)) of Fortran, with r decimal
// digits. Like those of TypeF90Real it is predefined.
//
// C: MPI_Type_create_f90_integer, section 19.1.9.
func TypeF90Integer(r int) (Datatype, error) {
	return constructor(call.TypeCreateF90Integer).once(types().F90Integer(r))
}

// Typeclass is a class of Fortran types.
//
// C: MPI_TYPECLASS_INTEGER and so on, section 19.1.9.
type Typeclass int

// The type classes.
//
// C: MPIX_TYPECLASS_LOGICAL, MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX, section 19.1.9.
const (
	TypeclassLogical = Typeclass(dtype.TypeclassLogical)
	TypeclassInteger = Typeclass(dtype.TypeclassInteger)
	TypeclassReal    = Typeclass(dtype.TypeclassReal)
	TypeclassComplex = Typeclass(dtype.TypeclassComplex)
)

// TypeMatchSize is the predefined Fortran type of a class with a size in bytes: TypeclassReal
// and 8 give MPI_REAL8. ErrArg if there is none.
//
// C: MPI_Type_match_size, section 19.1.9.
func TypeMatchSize(c Typeclass, size int) (Datatype, error) {
	return constructor(call.TypeMatchSize).once(types().MatchSize(dtype.Typeclass(c), int64(size)))
}

// TypeValueIndex is the predefined type of pairs of a value and an index, on which Minloc and
// Maxloc are defined, or the null type if there is none. Values are integers of up to 8 bytes
// and reals of at least 4 bytes; indices are signed integers of 4 or 8 bytes. The type has a
// name if the standard has one for the pair, such as MPI_DOUBLE_INT.
//
// C: MPI_Type_get_value_index, section 6.9.4.
func TypeValueIndex(value, index Datatype) (Datatype, error) {
	const by = constructor(call.TypeGetValueIndex)
	v, err := value.use(call.Number(by))
	if err != nil {
		return Datatype{}, err
	}
	i, err := index.use(call.Number(by))
	if err != nil {
		return Datatype{}, err
	}
	t, failed := types().ValueIndex(v, i)
	if t == nil && failed == nil {
		return Datatype{}, nil
	}
	return by.once(t, failed)
}
