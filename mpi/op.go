package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/op"
)

// Op is a reduction operation. Sum and Prod work on all numbers, Min and Max on
// integers and floating-point numbers, the logical ones on integers and
// booleans, the bitwise ones on integers; other pairs are ErrOp.
//
// C: MPI_Op, section 6.9.2.
type Op struct{ kernel op.Op }

// String is the name of the operation.
//
// C: none; MPI_Op has no name.
func (o Op) String() string { return o.kernel.String() }

// The predefined operations.
//
// C: MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, section 6.9.2.
var (
	Sum  = Op{op.Sum}
	Prod = Op{op.Prod}
	Min  = Op{op.Min}
	Max  = Op{op.Max}
	Land = Op{op.Land}
	Lor  = Op{op.Lor}
	Lxor = Op{op.Lxor}
	Band = Op{op.Band}
	Bor  = Op{op.Bor}
	Bxor = Op{op.Bxor}
)

// opType is the engine's name for the element type T.
func opType[T Elem]() op.Type {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Bool:
		return op.Bool
	case reflect.Int8:
		return op.Int8
	case reflect.Int16:
		return op.Int16
	case reflect.Int32:
		return op.Int32
	case reflect.Int64:
		return op.Int64
	case reflect.Int:
		if sizeOf[T]() == 4 {
			return op.Int32
		}
		return op.Int64
	case reflect.Uint8:
		return op.Uint8
	case reflect.Uint16:
		return op.Uint16
	case reflect.Uint32:
		return op.Uint32
	case reflect.Uint64:
		return op.Uint64
	case reflect.Uint:
		if sizeOf[T]() == 4 {
			return op.Uint32
		}
		return op.Uint64
	case reflect.Float32:
		return op.Float32
	case reflect.Float64:
		return op.Float64
	case reflect.Complex64:
		return op.Complex64
	}
	return op.Complex128
}
