package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/dtype"
)

// A message says in one byte what type its elements have; a receive with elements of another
// type is ErrType. Bytes match any type. Buffers of BufPtr, which programs in C use, have no
// such code and match everything: in C one representation has many type names, and only checking
// mode compares the whole sequences of types.

// elementCode is the code of the elements of slices of T.
func elementCode[T any]() dtype.Code { return kindCode(reflect.TypeFor[T]().Kind()) }

// isNumber reports whether T is a number or a boolean, or a type defined as one. Slices of such
// elements are memory without gaps.
func isNumber[T any]() bool { return isNumberKind(reflect.TypeFor[T]().Kind()) }

func isNumberKind(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
}

// kindCode is the code of elements of a kind: Mixed for structs and for all that is not a
// number.
func kindCode(k reflect.Kind) dtype.Code {
	if int(k) < len(kindCodes) {
		return dtype.Code(kindCodes[k])
	}
	return dtype.Mixed
}

// The high half-bytes of codes, and the logarithm of the size of an int in bytes.
const (
	integerCode = rune(dtype.Integer) << 4
	naturalCode = rune(dtype.Natural) << 4
	numberCode  = rune(dtype.Floating) << 4
	complexCode = rune(dtype.Complex) << 4
	intCode     = 2 + intBits/64
)

// kindCodes are the codes, as dtype.CodeOf gives them, of the kinds from reflect.Invalid to
// reflect.Complex128. It is a constant string, since the fast path of every message indexes it.
const kindCodes = "\x00" + string(rune(dtype.Boolean)<<4) +
	string(integerCode+intCode) + string(integerCode) + string(integerCode+1) + string(integerCode+2) + string(integerCode+3) +
	string(naturalCode+intCode) + "\x00" + string(naturalCode+1) + string(naturalCode+2) + string(naturalCode+3) +
	"\x00" + // Uintptr
	string(numberCode+rune(dtype.Single)) + string(numberCode+rune(dtype.Double64)) +
	string(complexCode+rune(dtype.Single)) + string(complexCode+rune(dtype.Double64))
