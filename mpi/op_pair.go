package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/op"
)

// ValueIndex is the element type of Minloc and Maxloc: a value, and an index that tells where
// the value comes from. The result is the element with the smallest or largest value; of
// elements with equal values (-0 equals +0) the one with the smallest index. A NaN counts as
// smaller, or larger, than every number. The layout in memory is that of C's pairs, so that
// ValueIndex[float64, int32] is MPI_DOUBLE_INT; TypeValueIndex returns its datatype.
//
// It can be sent and received like any element type. Reductions of slices accept only pairs
// whose parts have the same size, such as a float64 and an int. Other pairs have padding in
// memory and need a Buffer: c.Allreduce(mpi.Buf(mine), mpi.Buf(least), mpi.Minloc).
//
// C: MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION and MPI_Type_get_value_index, section 6.9.4.
type ValueIndex[V, I interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64
}] struct {
	Value V
	Index I
}

// pairs are the types of ValueIndex without padding on which Minloc and Maxloc are defined: a
// slice of these elements is memory without gaps.
type pairs interface {
	ValueIndex[float32, int32] | ValueIndex[int32, int32] | ValueIndex[uint32, int32] |
		ValueIndex[float64, int64] | ValueIndex[float64, int] |
		ValueIndex[int64, int64] | ValueIndex[int64, int] | ValueIndex[int, int64] | ValueIndex[int, int] |
		ValueIndex[uint64, int64] | ValueIndex[uint64, int] | ValueIndex[uint, int64] | ValueIndex[uint, int] |
		ValueIndex[float32, float32] | ValueIndex[float64, float64]
}

// opType is the operand type. As a method it needs no look at the fields of the type.
func (*ValueIndex[V, I]) opType() op.Type {
	return op.Pair(numberType(reflect.TypeFor[V]().Kind()), numberType(reflect.TypeFor[I]().Kind()))
}

// isPair distinguishes the type from other structs with such fields.
func (ValueIndex[V, I]) isPair() {}

// pairOf returns the types of value and index of a struct that is a ValueIndex. A struct that
// embeds a ValueIndex has the method isPair as well, but other fields.
func pairOf(g reflect.Type) (value, index reflect.Type, ok bool) {
	if g.NumField() != 2 || g.Field(0).Anonymous || g.Field(1).Anonymous || !g.Implements(reflect.TypeFor[interface{ isPair() }]()) {
		return nil, nil, false
	}
	return g.Field(0).Type, g.Field(1).Type, true
}

// opType is the engine's operand type for elements of type T.
func opType[T Elem]() op.Type {
	if k := reflect.TypeFor[T]().Kind(); k != reflect.Struct {
		return numberType(k)
	}
	return any((*T)(nil)).(interface{ opType() op.Type }).opType()
}

// numberType is the operand type of numbers of a kind, or 0 if the kind is not one of numbers.
func numberType(k reflect.Kind) op.Type {
	if int(k) < len(numberTypes) {
		return op.Type(numberTypes[k])
	}
	return 0
}

// numberTypes are the operand types of the kinds from reflect.Invalid to reflect.Complex128, 0
// for kinds that are not numbers. It is a constant string, since the fast path of a fetch_and_op
// indexes it: a switch there would take as long as an atomic operation.
const numberTypes = "\x00" + string(rune(op.Bool)) +
	string(rune(goInt)) + string(rune(op.Int8)) + string(rune(op.Int16)) + string(rune(op.Int32)) + string(rune(op.Int64)) +
	string(rune(goUint)) + string(rune(op.Uint8)) + string(rune(op.Uint16)) + string(rune(op.Uint32)) + string(rune(op.Uint64)) +
	"\x00" + // Uintptr
	string(rune(op.Float32)) + string(rune(op.Float64)) + string(rune(op.Complex64)) + string(rune(op.Complex128))

// goInt and goUint are the types of int and uint.
const (
	goInt  = op.Int32 + (op.Int64-op.Int32)*(intBits/64)
	goUint = op.Uint32 + (op.Uint64-op.Uint32)*(intBits/64)
)

// intBits is the size of int.
const intBits = 32 << (^uint(0) >> 63)
