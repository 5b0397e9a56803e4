package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/op"
)

// ValueIndex is the element type of Minloc and Maxloc: a value, and an index that
// says where it is. The result is the element with the least or greatest value, and
// of equal ones (-0 equals +0) that with the lowest index; a NaN comes before every
// number. It lies in memory as the pairs of C do, so that ValueIndex[float64, int32]
// is MPI_DOUBLE_INT; its datatype is what TypeValueIndex returns.
//
// As any element type it can be sent and received. Slices of it are for pairs whose
// parts are of one size, such as a float64 and an int; other pairs are padded in
// memory, and go into a Buffer: c.Allreduce(mpi.Buf(mine), mpi.Buf(least), mpi.Minloc).
//
// C: MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION and MPI_Type_get_value_index, section 6.9.4.
type ValueIndex[V, I interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | float32 | float64
}] struct {
	Value V
	Index I
}

// pairs are the types of ValueIndex on which Minloc and Maxloc are defined, and which
// have no padding: an element of a slice is all data.
type pairs interface {
	ValueIndex[float32, int32] | ValueIndex[int32, int32] | ValueIndex[uint32, int32] |
		ValueIndex[float64, int64] | ValueIndex[float64, int] |
		ValueIndex[int64, int64] | ValueIndex[int64, int] | ValueIndex[int, int64] | ValueIndex[int, int] |
		ValueIndex[uint64, int64] | ValueIndex[uint64, int] | ValueIndex[uint, int64] | ValueIndex[uint, int] |
		ValueIndex[float32, float32] | ValueIndex[float64, float64]
}

// opType makes the type tell what it is without looking at its fields.
func (*ValueIndex[V, I]) opType() op.Type {
	return op.Pair(numberType(reflect.TypeFor[V]().Kind()), numberType(reflect.TypeFor[I]().Kind()))
}

// isPair tells the type from other structs with such fields.
func (ValueIndex[V, I]) isPair() {}

// pairOf is value and index of a struct that is a ValueIndex. One that embeds it has
// its method, too, but other fields.
func pairOf(g reflect.Type) (value, index reflect.Type, ok bool) {
	if g.NumField() != 2 || g.Field(0).Anonymous || g.Field(1).Anonymous || !g.Implements(reflect.TypeFor[interface{ isPair() }]()) {
		return nil, nil, false
	}
	return g.Field(0).Type, g.Field(1).Type, true
}

// opType is the engine's name for the element type T.
func opType[T Elem]() op.Type {
	if k := reflect.TypeFor[T]().Kind(); k != reflect.Struct {
		return numberType(k)
	}
	return any((*T)(nil)).(interface{ opType() op.Type }).opType()
}

// numberType is what numbers of a kind are to operations, 0 if that is none of numbers.
func numberType(k reflect.Kind) op.Type {
	if int(k) < len(numberTypes) {
		return op.Type(numberTypes[k])
	}
	return 0
}

// numberTypes are the types of the kinds from reflect.Invalid to reflect.Complex128, 0 for
// what is none. A string, because it is indexed on the way of a fetch_and_op, where a switch
// takes as long as an atomic operation.
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
