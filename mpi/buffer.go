package mpi

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Buffer describes the data of a message that is not simply a slice of numbers: a number of
// elements of a Datatype, in the memory of a slice. It is a small value, made by Buf, BufOf or
// BufAt, that can be kept and used many times. It refers to the data and contains none.
//
// The communicating functions of this package take slices; the methods of Comm of the same names
// take Buffers. The two sides of a message may have different layouts; only the sequences of
// basic types must agree. Halo transfers the data without packing it as a whole, and without
// allocation.
//
// An error in making a Buffer is returned by the calls that use the Buffer; nonblocking calls
// return it when the program waits for the request. The zero Buffer is an empty message.
//
// C: none; the arguments buf, count and datatype of section 3.2.2.
type Buffer struct {
	b   dtype.Buffer
	h   *datatype // handle of the type; nil if the type has only one handle
	err error     // why the Buffer is invalid, as an error of the engine; or nil
}

// Buf is a Buffer of all of mem. T is a type that TypeOf accepts, such as a struct of numbers.
//
// C: none; the arguments buf, count and datatype in one.
func Buf[T any](mem []T) (b Buffer) {
	t, err := golang[T]()
	if err == nil {
		err = b.b.Bind(memory(mem), 0, t, int64(len(mem)))
	}
	b.err = err
	return b
}

// BufOf is a Buffer of count elements of type d in mem, where mem[0] has displacement 0.
//
// Errors, returned by the calls that use the Buffer: ErrBuffer if the elements reach outside of
// mem; ErrType if T contains pointers, or if d is null, freed or not committed. Freeing d later
// does not affect the Buffer.
//
// C: none; the arguments buf, count and datatype of section 3.2.2.
func BufOf[T any](mem []T, count int, d Datatype) Buffer { return BufAt(mem, 0, count, d) }

// BufAt is BufOf with displacement 0 at mem[origin], for types with negative displacements.
//
// C: none; the arguments buf, count and datatype of section 3.2.2.
func BufAt[T any](mem []T, origin, count int, d Datatype) (b Buffer) {
	_, b.err = golang[T]()
	if b.err != nil {
		return b
	}
	var t *dtype.Type
	t, b.err = d.engine()
	if b.err != nil {
		return b
	}
	var e T
	if origin < 0 || origin > len(mem) {
		b.err = class.Errorf(class.Arg, "displacement 0 is at element %d of a slice of %d", origin, len(mem))
		return b
	}
	b.err = b.b.Bind(memory(mem), int64(origin)*int64(unsafe.Sizeof(e)), t, int64(count))
	b.h = d.h
	return b
}

// BufPtr is a Buffer of count elements of type d in memory that is not a Go slice, such as
// memory of C. Displacement 0 is at p; p is nil for a type with absolute addresses. The caller
// must make sure that all memory that the elements cover exists as long as calls use it.
// ErrBuffer if p is an address in the first page and the elements have data. Without checking mode the
// type is compared with that of the other side of a message only: integers and floating-point numbers
// of one size differ, as programs in C have several names for other types of one form.
//
// C: none; the arguments buf, count and datatype of section 3.2.2, and MPI_BOTTOM.
func BufPtr(p unsafe.Pointer, count int, d Datatype) (b Buffer) {
	b.at(p, count, d)
	return b
}

// at is BufPtr that fills in b, which is zero, in place. Copying a Buffer that has just been
// made is slow: the copy loads pairs of words that were stored one by one, which defeats store
// forwarding.
func (b *Buffer) at(p unsafe.Pointer, count int, d Datatype) {
	var t *dtype.Type
	t, b.err = d.engine()
	if b.err != nil {
		return
	}
	b.err = b.b.At(p, t, int64(count))
	b.b.Foreign()
	if b.err != nil || b.b.Size() == 0 {
		return
	}
	lb, _ := t.TrueExtent()
	if at := int64(uintptr(p)) + lb; at >= 0 && at < mem.FirstPage {
		b.err = class.Errorf(class.Buffer, "%s at address %#x, which is not valid", t.Describe(int64(count)), at)
	}
	b.h = d.h
}

// BufError is an invalid Buffer: calls that use it fail with the given class and text. Callers
// that make Buffers from their own callers' arguments, such as bindings for other languages, use
// it to report an error from the call that the Buffer was made for.
//
// C: none; what is wrong with the arguments buf, count and datatype of section 3.2.2.
func (internals) BufError(cl Class, format string, args ...any) Buffer {
	return Buffer{err: class.Errorf(class.Class(cl), format, args...)}
}

// memory returns the bytes of a slice whose elements contain no pointers.
func memory[T any](s []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(t))
}

// Len is the number of elements.
//
// C: none; the argument count of section 3.2.2.
func (b Buffer) Len() int { return int(b.b.Count()) }

// Datatype is the type of the elements: the type of T for a Buffer that Buf made, and the null
// type for the zero Buffer.
//
// C: none; the argument datatype of section 3.2.2.
func (b Buffer) Datatype() Datatype {
	switch t := b.b.Type(); {
	case b.h != nil:
		return Datatype{b.h}
	case t != nil:
		return types().lasting(t)
	}
	return Datatype{}
}

// Bytes is the size of the data in bytes, without gaps.
//
// C: none; count times MPI_Type_size.
func (b Buffer) Bytes() int64 { return b.b.Size() }
