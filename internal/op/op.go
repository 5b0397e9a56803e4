package op

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// Op is a reduction operation: one of the constants, alone or In a floating-point environment.
type Op uint16

// The operations. Replace and NoOp, which return the right and the left operand, are for
// one-sided communication only.
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
	Minloc
	Maxloc
	Replace
	NoOp
)

// Ops is the number of operations: they are 1 to Ops.
const Ops = int(NoOp)

// String returns the name of the operation.
func (o Op) String() string {
	names := [...]string{"no operation", "Sum", "Prod", "Min", "Max", "Land", "Lor", "Lxor", "Band", "Bor", "Bxor",
		"Minloc", "Maxloc", "Replace", "NoOp"}
	if b := int(o.Bare()); b < len(names) {
		return names[b]
	}
	return names[0]
}

// Check returns an error of class Op unless a reduction with o is defined on t
// (MPI-5, 6.9.2 and 6.9.4): sum and product on numbers, minimum and maximum on
// integers and reals, the logical operations on integers and logicals, the bitwise
// ones on integers and bytes, and those with a location on pairs.
func Check(o Op, t Type) error {
	bare := o.Bare()
	switch {
	case o.DefinedOn(t):
		return nil
	case t == Handle:
		return class.Errorf(class.Type, "no operation is defined on handles of synchronisation objects")
	case (bare == Replace || bare == NoOp) && t.group() != none:
		return class.Errorf(class.Op, "operation %v is for one-sided communication only", o)
	case bare == 0:
		return class.Errorf(class.Op, "the operation is null, or has been freed")
	}
	return class.Errorf(class.Op, "operation %v is not defined on elements of %v", o, t)
}

// DefinedOn reports whether a reduction with o is defined on t. It makes no error value, so fast
// paths and the tables of all operations on all types use it.
func (o Op) DefinedOn(t Type) bool {
	g := t.group()
	switch o.Bare() {
	case Sum, Prod:
		return g == integers || g == reals || g == complexes
	case Min, Max:
		return g == integers || g == reals
	case Land, Lor, Lxor:
		return g == integers || g == logicals
	case Band, Bor, Bxor:
		return g == integers || g == octets
	case Minloc, Maxloc:
		return g == pairs
	}
	return false
}

// CheckAccumulate is Check for one-sided communication (MPI-5, 12.3.4), where Replace and NoOp
// are defined on all types.
func CheckAccumulate(o Op, t Type) error {
	o = o.Bare()
	if o.Accumulates(t) {
		return nil
	}
	return Check(o, t)
}

// Accumulates reports whether CheckAccumulate accepts o on t.
func (o Op) Accumulates(t Type) bool {
	bare := o.Bare()
	return (bare == Replace || bare == NoOp) && t.group() != none || o.DefinedOn(t)
}

// Apply stores left o right in dst, element by element. The three slices have the same length, a
// multiple of the size of t, and any alignment. dst may be one of the other two, but not overlap
// them otherwise. Bytes of dst in gaps of the elements (see Gaps) are not changed. The caller has checked o
// and t with CheckAccumulate.
//
// These loops in Go define the results of the vector kernels. The switches over types and
// operations are the table of loops: their calls are direct, so nothing escapes and nothing is
// allocated.
func Apply(o Op, t Type, dst, left, right []byte) {
	if len(dst) == 0 {
		return // o and t may have any value: a barrier has none
	}
	if o >= Replace {
		applyOther(o, t, dst, left, right)
		return
	}
	switch t {
	case Bool:
		logical(o, dst, left, right)
	case Int8:
		whole(o, view[int8](dst), view[int8](left), view[int8](right))
	case Int16:
		whole(o, view[int16](dst), view[int16](left), view[int16](right))
	case Int32:
		whole(o, view[int32](dst), view[int32](left), view[int32](right))
	case Int64:
		whole(o, view[int64](dst), view[int64](left), view[int64](right))
	case Uint8, Byte:
		whole(o, dst, left, right)
	case Uint16:
		whole(o, view[uint16](dst), view[uint16](left), view[uint16](right))
	case Uint32:
		whole(o, view[uint32](dst), view[uint32](left), view[uint32](right))
	case Uint64:
		whole(o, view[uint64](dst), view[uint64](left), view[uint64](right))
	case Float32:
		real32(o, view[float32](dst), view[float32](left), view[float32](right))
	case Float64:
		real64(o, view[float64](dst), view[float64](left), view[float64](right))
	case Complex64:
		if o == Sum {
			real32(o, view[float32](dst), view[float32](left), view[float32](right))
			return
		}
		product64(view[complex64](dst), view[complex64](left), view[complex64](right))
	case Complex128:
		if o == Sum {
			real64(o, view[float64](dst), view[float64](left), view[float64](right))
			return
		}
		product128(view[complex128](dst), view[complex128](left), view[complex128](right))
	case Bool16:
		logical(o, view[uint16](dst), view[uint16](left), view[uint16](right))
	case Bool32:
		logical(o, view[uint32](dst), view[uint32](left), view[uint32](right))
	case Bool64:
		logical(o, view[uint64](dst), view[uint64](left), view[uint64](right))
	case Bool128, Int128:
		wide(o, view[int128](dst), view[int128](left), view[int128](right))
	case Float16, Complex32:
		half(o, t, view[uint16](dst), view[uint16](left), view[uint16](right))
	case Float80, Float128, Complex160, Complex256:
		long(o, formatOf(t), t, view[[16]byte](dst), view[[16]byte](left), view[[16]byte](right))
	default:
		located(o, t, dst, left, right)
	}
}

// applyOther is Apply for operations that are not reductions, and for environments.
func applyOther(o Op, t Type, dst, left, right []byte) {
	switch o {
	case Replace:
		t.Copy(dst, right)
	case NoOp:
		t.Copy(dst, left)
	default:
		applyIn(o, t, dst, left, right)
	}
}

// view returns b as a slice of elements.
func view[T any](b []byte) []T {
	var e T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(e)))
}
