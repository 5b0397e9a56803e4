package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Messages tell in a byte what their elements are: a receive of others
// is ErrType. Bytes match anything. Buffers of BufPtr, as programs in C have them, tell nothing
// and are compared with nothing: there the types of one representation go by many names, and
// checking mode, which compares whole sequences, is to judge.

// elementCode is what elements of slices of T are.
func elementCode[T any]() dtype.Code { return kindCode(reflect.TypeFor[T]().Kind()) }

// isNumber reports whether T is a number or a boolean, whatever its name: slices of such are
// memory without gaps.
func isNumber[T any]() bool {
	k := reflect.TypeFor[T]().Kind()
	return k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr
}

// kindCode is that of elements of a kind, Mixed for structs and for what is no number.
func kindCode(k reflect.Kind) dtype.Code {
	if int(k) < len(kindCodes) {
		return dtype.Code(kindCodes[k])
	}
	return dtype.Mixed
}

// The upper halves of codes, and the logarithm of the size of an int in bytes.
const (
	integerCode = rune(dtype.Integer) << 4
	naturalCode = rune(dtype.Natural) << 4
	numberCode  = rune(dtype.Floating) << 4
	complexCode = rune(dtype.Complex) << 4
	intCode     = 2 + intBits/64
)

// kindCodes are the codes of the kinds from reflect.Invalid to reflect.Complex128: what
// dtype.CodeOf gives. A string, because it is indexed on the way of every message.
const kindCodes = "\x00" + string(rune(dtype.Boolean)<<4) +
	string(integerCode+intCode) + string(integerCode) + string(integerCode+1) + string(integerCode+2) + string(integerCode+3) +
	string(naturalCode+intCode) + "\x00" + string(naturalCode+1) + string(naturalCode+2) + string(naturalCode+3) +
	"\x00" + // Uintptr
	string(numberCode+rune(dtype.Single)) + string(numberCode+rune(dtype.Double64)) +
	string(complexCode+rune(dtype.Single)) + string(complexCode+rune(dtype.Double64))
