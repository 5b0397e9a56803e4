package dtype

import (
	"fmt"
	"math/bits"
)

// Code says in one byte which basic datatype all elements of a message have, for the headers of
// frames. It is 0 if the elements differ, have no type (bytes, packed data), or if the sender
// does not say. Types of different names or languages with one representation match, and
// therefore have the same Code.
//
// A Code also checks a message that is shorter than its buffer, which a hash of the whole
// sequence cannot. A peer may send any value: an undefined value matches itself and 0 only.
//
// The upper half is the Kind, the lowest three bits are the Format or, where there is none, the
// logarithm of the size in bytes. The bit between is set in codes of programs in other languages: see
// Loose.
type Code uint8

// Mixed is the Code of elements that match any others.
const Mixed Code = 0

// loose is the bit of codes that Loose returns.
const loose Code = 1 << 3

// CodeOf is the Code of numbers of that kind, and of that size in bytes or format.
func CodeOf(k Kind, size int64, f Format) Code {
	low := uint8(f)
	if f == 0 {
		low = uint8(bits.TrailingZeros64(uint64(size)))
	}
	return Code(uint8(k)<<4 | low&7)
}

// Code is that of the elements of t, nil being bytes.
func (t *Type) Code() Code {
	if t == nil || t.sig.raw || t.sig.only == nil {
		return Mixed
	}
	e := t.sig.only
	if e.Kind == Natural && e.Size == 1 { // programs in Go send bytes as uint8
		return Mixed
	}
	if e.code>>31 != 0 { // an F90 type matches only itself, which a Code cannot express
		return Mixed
	}
	return CodeOf(e.Kind, e.Size, e.Format)
}

// Code is that of the elements of b.
func (b *Buffer) Code() Code {
	if b.foreign {
		return Mixed
	}
	return b.t.Code()
}

// MessageCode is the code of the elements of b in messages.
func (b *Buffer) MessageCode() Code {
	if b.foreign {
		return b.t.Code().Loose()
	}
	return b.t.Code()
}

// Foreign says that b is of a program in another language: Code returns Mixed for it, and MessageCode a loose
// code.
func (b *Buffer) Foreign() { b.foreign = true }

// Loose is the code for messages of programs in C and Fortran. Many of these have types of different names
// for the same memory: signed and unsigned integers, characters, logical values; complex numbers and their parts.
// So loose codes, and a loose one and another, differ only if one of them is of integers and the other of
// floating-point numbers, of one size.
func (c Code) Loose() Code {
	if c == Mixed {
		return Mixed
	}
	return c | loose
}

// Differs reports whether a message of elements of code c, and of some bytes, cannot be
// received as elements of code o.
func (c Code) Differs(o Code) bool { return c != o && c != Mixed && o != Mixed && c.clashes(o) }

// clashes is Differs of codes that are not the same. C has the same function, for loose codes: halo_clash.
func (c Code) clashes(o Code) bool {
	return (c|o)&loose == 0 || c.floats() != o.floats() && c.size() == o.size()
}

// floats reports whether the elements are floating-point numbers, or made of two of them.
func (c Code) floats() bool { return Kind(c>>4) == Floating || Kind(c>>4) == Complex }

// size is the size of an element in bytes, 0 if c is not a valid Code.
func (c Code) size() int64 {
	low := c & 7
	switch k := Kind(c >> 4); {
	case k == Floating && Format(low) <= Quad:
		return Format(low).size()
	case k == Complex && Format(low) <= Quad:
		return 2 * Format(low).size()
	case k >= Integer && k <= Handle && low <= 4:
		return 1 << low
	}
	return 0
}

// String is a name of the elements in the standard; several names may have one Code.
func (c Code) String() string {
	switch k, n := Kind(c>>4), c.size(); {
	case n == 0:
	case k == Integer:
		return fmt.Sprintf("MPI_INT%d_T", 8*n)
	case k == Natural:
		return fmt.Sprintf("MPI_UINT%d_T", 8*n)
	case k == Floating:
		return [...]string{"", "MPI_REAL2", "MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_REAL16"}[c&7]
	case k == Complex:
		return [...]string{"", "MPI_COMPLEX4", "MPI_C_FLOAT_COMPLEX", "MPI_C_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX", "MPI_COMPLEX32"}[c&7]
	case k == Logical:
		return "MPI_LOGICAL"
	case k == Boolean:
		return "MPI_C_BOOL"
	case k == Character:
		return "MPI_CHAR"
	case k == Wide:
		return "MPI_WCHAR"
	case k == Handle:
		return "MPIX_HANDLE_SYNC"
	}
	return "an unknown type"
}

// Describe says in words how many elements of code c so many bytes are.
func (c Code) Describe(bytes int64) string {
	n := c.size()
	if n == 0 || bytes%n != 0 {
		return fmt.Sprintf("%d bytes of %v", bytes, c)
	}
	return fmt.Sprintf("%d x %v", bytes/n, c)
}
