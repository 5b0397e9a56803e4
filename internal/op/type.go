package op

import "fmt"

// Type is a type of elements: one of the constants, or a Pair of two of them.
type Type uint16

// The types. Go's int and uint are the type of their size; the integers of C and Fortran are the
// type of their size and sign. Elements that are not numbers, such as C's char, have no type
// here, since no operation is defined on them.
const (
	Bool Type = 1 + iota // Go's bool, C's _Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Complex64
	Complex128
	Byte   // MPI_BYTE: bits without a numerical value
	Bool16 // Fortran's LOGICAL of 2, 4, 8 and 16 bytes; Bool is that of 1
	Bool32
	Bool64
	Bool128
	Int128     // two halves, the lower one first
	Float16    // IEEE 754 binary16
	Float80    // the x87's extended format, in 16 bytes: C's long double on amd64
	Float128   // IEEE 754 binary128: C's long double on arm64, Fortran's REAL*16
	Complex32  // two Float16
	Complex160 // two Float80
	Complex256 // two Float128
	simple
)

// Handle is the type of handles of objects: no operation is defined on them, not even one
// of a program.
const Handle Type = 1<<pairShift - 1

// pairShift is the first bit, in the Type of a pair, of the type of the index.
const pairShift = 8

// Pair returns the type of a value with an index, which has the layout of a struct in C.
func Pair(value, index Type) Type { return index<<pairShift | value }

// Parts returns the types of value and index of a pair, and 0 and 0 if t is no pair.
func (t Type) Parts() (value, index Type) {
	if t>>pairShift == 0 {
		return 0, 0
	}
	return t & (1<<pairShift - 1), t >> pairShift
}

// All lists the types, with all legal pairs.
func All() []Type {
	var list []Type
	for t := Bool; t < simple; t++ {
		list = append(list, t)
	}
	for v := Int8; v < simple; v++ {
		for i := Int8; i < simple; i++ {
			if p := Pair(v, i); p.group() == pairs {
				list = append(list, p)
			}
		}
	}
	return list
}

// group is a group of types for which the same operations are defined.
type group uint8

const (
	none group = iota
	logicals
	integers
	reals
	complexes
	octets
	pairs
)

func (t Type) group() group {
	switch t {
	case Bool, Bool16, Bool32, Bool64, Bool128:
		return logicals
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Int128:
		return integers
	case Float16, Float32, Float64, Float80, Float128:
		return reals
	case Complex32, Complex64, Complex128, Complex160, Complex256:
		return complexes
	case Byte:
		return octets
	}
	switch value, index := t.Parts(); {
	case index == Int32 || index == Int64:
		if g := value.group(); (g == integers || g == reals) && value != Int128 && value != Float16 {
			return pairs
		}
	case index == value && (index == Float32 || index == Float64): // 2REAL, 2DOUBLE_PRECISION
		return pairs
	}
	return none
}

// sizes has the sizes of the simple types, in their order, after that of no type. It is a
// string, since indexing a string is fast; a switch takes as long as an atomic operation.
const sizes = "\x00" +
	"\x01\x01\x02\x04\x08\x01\x02\x04\x08" + // Bool, Int8 to Int64, Uint8 to Uint64
	"\x04\x08\x08\x10\x01" + // Float32, Float64, Complex64, Complex128, Byte
	"\x02\x04\x08\x10\x10" + // Bool16 to Bool128, Int128
	"\x02\x10\x10\x04\x20\x20" // Float16, Float80, Float128, Complex32, Complex160, Complex256

// Size returns the size of an element in bytes with its padding, 0 if t is no type.
func (t Type) Size() int {
	if int(t) < len(sizes) {
		return int(sizes[t])
	}
	return t.pairSize()
}

func (t Type) pairSize() int {
	value, index := t.Parts()
	if index == 0 {
		return 0
	}
	align := max(value.align(), index.align())
	return (t.IndexOffset() + index.Size() + align - 1) / align * align
}

// IndexOffset returns the offset of the index in a pair.
func (t Type) IndexOffset() int {
	value, index := t.Parts()
	return (value.Size() + index.align() - 1) / index.align() * index.align()
}

// align returns the alignment of a simple real type in C on the 64-bit platforms.
func (t Type) align() int { return max(t.Size(), 1) }

// String returns the name of the type in Go, or a name in the style of Go. Package cname turns
// these names into those of C; Byte, which Go does not have, has its C name.
func (t Type) String() string {
	names := [simple]string{"no type", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
		"float32", "float64", "complex64", "complex128", "MPI_BYTE", "bool16", "bool32", "bool64", "bool128", "int128",
		"float16", "float80", "float128", "complex32", "complex160", "complex256"}
	if value, index := t.Parts(); index != 0 {
		return fmt.Sprintf("(%v, %v)", value, index)
	}
	if t < simple {
		return names[t]
	}
	return names[0]
}
