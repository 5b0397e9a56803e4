package op

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// Op is a reduction operation.
type Op uint8

// The operations.
const (
	Sum Op = 1 + iota
	Prod
	Min
	Max
	Land
	Lor
	Lxor
	Band
	Bor
	Bxor
)

// Ops is the number of operations: they are 1 to Ops.
const Ops = int(Bxor)

// String is the name of the operation.
func (o Op) String() string {
	switch o {
	case Sum:
		return "Sum"
	case Prod:
		return "Prod"
	case Min:
		return "Min"
	case Max:
		return "Max"
	case Land:
		return "Land"
	case Lor:
		return "Lor"
	case Lxor:
		return "Lxor"
	case Band:
		return "Band"
	case Bor:
		return "Bor"
	case Bxor:
		return "Bxor"
	}
	return "no operation"
}

// Check returns an error of class Op unless o is defined on t (MPI-5, 6.9.2):
// everything on integers, sum and product also on floating-point and complex
// numbers, minimum and maximum also on floating-point numbers, the logical
// operations also on bool.
func Check(o Op, t Type) error {
	ok := false
	switch {
	case o < Sum || o > Bxor || t < Bool || t > Complex128:
	case t == Bool:
		ok = o == Land || o == Lor || o == Lxor
	case t <= Uint64:
		ok = true
	case t <= Float64:
		ok = o <= Max
	default:
		ok = o <= Prod
	}
	if ok {
		return nil
	}
	if o == 0 {
		return &class.Error{Class: class.Op, Text: "the operation is null, or has been freed"}
	}
	return &class.Error{Class: class.Op, Text: fmt.Sprintf("operation %v is not defined on elements of %v", o, t)}
}

// Apply stores left o right in dst, element by element. The three have the same
// length, a multiple of the size of t; dst may be one of the other two, but not
// overlap them otherwise. Check has accepted the pair.
//
// The switches over types and operations are the table of kernels: the calls in
// them are direct, so nothing escapes and nothing is allocated.
func Apply(o Op, t Type, dst, left, right []byte) {
	switch t {
	case Bool:
		logical(o, dst, left, right)
	case Int8:
		integers(o, view[int8](dst), view[int8](left), view[int8](right))
	case Int16:
		integers(o, view[int16](dst), view[int16](left), view[int16](right))
	case Int32:
		integers(o, view[int32](dst), view[int32](left), view[int32](right))
	case Int64:
		integers(o, view[int64](dst), view[int64](left), view[int64](right))
	case Uint8:
		integers(o, dst, left, right)
	case Uint16:
		integers(o, view[uint16](dst), view[uint16](left), view[uint16](right))
	case Uint32:
		integers(o, view[uint32](dst), view[uint32](left), view[uint32](right))
	case Uint64:
		integers(o, view[uint64](dst), view[uint64](left), view[uint64](right))
	case Float32:
		floats(o, view[float32](dst), view[float32](left), view[float32](right))
	case Float64:
		floats(o, view[float64](dst), view[float64](left), view[float64](right))
	case Complex64:
		numbers(o, view[complex64](dst), view[complex64](left), view[complex64](right))
	case Complex128:
		numbers(o, view[complex128](dst), view[complex128](left), view[complex128](right))
	}
}

// view is b as elements.
func view[T any](b []byte) []T {
	var e T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(e)))
}
