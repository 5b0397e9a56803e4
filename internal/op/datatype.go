package op

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
)

// For returns the type of the elements of a datatype. The datatype is a basic one, one of
// F90Real and its like, a pair, or a duplicate of these. For others, characters and derived
// types, it returns 0: no predefined operation is defined on them.
func For(t *dtype.Type) Type {
	if t == nil {
		return 0
	}
	if e := t.Elem(); e != nil {
		return basic(e)
	}
	if value, index, ok := t.Pair(); ok {
		return Pair(basic(value.Elem()), basic(index.Elem()))
	}
	return 0
}

// CheckFor is Check for elements of a datatype, and returns their Type. The logical operations
// take integers of C, and are not defined on those of Fortran (MPI-5, 6.9.2). The standard does
// not define them on addresses, offsets and counts either, but other implementations do, and
// programs rely on it: here these types count as integers of C.
func CheckFor(o Op, t *dtype.Type) (Type, error) {
	if typ := o.Reduces(t); typ != 0 {
		return typ, nil
	}
	typ := For(t)
	o = o.Bare()
	switch {
	case typ == Handle:
		return 0, Check(o, typ)
	case o == 0 || o == Replace || o == NoOp:
		return 0, Check(o, Int8) // such an operation is an error on any type
	case typ == 0 && t != nil && t.Elem() == nil:
		return 0, class.Errorf(class.Op, "operation %v is not defined on %v, which is derived: only operations of programs are", o, t)
	}
	return 0, class.Errorf(class.Op, "operation %v is not defined on elements of %v", o, t)
}

// Reduces returns the Type of elements of t if CheckFor accepts o on them, else 0.
func (o Op) Reduces(t *dtype.Type) Type {
	typ, bare := For(t), o.Bare()
	logical := bare == Land || bare == Lor || bare == Lxor
	if !o.DefinedOn(typ) || logical && typ.group() == integers && !ofC(t.Elem()) {
		return 0
	}
	return typ
}

// basic returns the type of a basic datatype.
func basic(e *dtype.Elem) Type {
	switch e.Kind {
	case dtype.Integer:
		return bySize(e.Size, Int8, Int16, Int32, Int64, Int128)
	case dtype.Natural:
		return bySize(e.Size, Uint8, Uint16, Uint32, Uint64, 0)
	case dtype.Logical, dtype.Boolean:
		return bySize(e.Size, Bool, Bool16, Bool32, Bool64, Bool128)
	case dtype.Floating:
		return byFormat(e.Format, Float16, Float32, Float64, Float80, Float128)
	case dtype.Complex:
		return byFormat(e.Format, Complex32, Complex64, Complex128, Complex160, Complex256)
	case dtype.Raw:
		return Byte
	case dtype.Handle:
		return Handle
	case dtype.Character:
		// The standard defines no operations on text, so a reduction of MPI_CHAR is an error.
		// But benchmarks and programs in C do this, and mean signed char.
		if e.ID == dtype.Char {
			return Int8
		}
	}
	return 0
}

func bySize(size int64, of1, of2, of4, of8, of16 Type) Type {
	switch size {
	case 1:
		return of1
	case 2:
		return of2
	case 4:
		return of4
	case 8:
		return of8
	}
	return of16
}

func byFormat(f dtype.Format, half, single, double, extended, quad Type) Type {
	switch f {
	case dtype.Half:
		return half
	case dtype.Single:
		return single
	case dtype.Double64:
		return double
	case dtype.Extended:
		return extended
	}
	return quad
}

// ofC reports whether an integer type is one of C.
func ofC(e *dtype.Elem) bool {
	switch e.ID {
	case 0, dtype.FortranInteger, dtype.Integer1, dtype.Integer2, dtype.Integer4, dtype.Integer8, dtype.Integer16:
		return false
	}
	return true
}
