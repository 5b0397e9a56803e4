package mpi

import (
	"fmt"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Buffer is what a message is sent from or received into when it is not simply a
// slice of numbers: a number of elements of a Datatype, somewhere in the memory of a
// slice. It is a small value, made by Buf, BufOf or BufAt, that can be kept and used
// again and again; it says where the data is, and holds none.
//
// The communicating functions of this package take slices, and the methods of Comm
// of the same names take Buffers. The two sides of a message may have any layouts:
// what must agree is the sequence of basic types. Data travels without being packed
// as a whole, and without allocation.
//
// What was wrong when a Buffer was made is the error of the calls that use it, which
// for nonblocking ones shows when they are waited for. The zero Buffer is an empty
// message.
//
// C: none; the arguments buf, count and datatype of section 3.2.2.
type Buffer struct {
	b   dtype.Buffer
	h   *datatype // of the type; nil if there is one handle for it
	err error     // what is wrong with it; of the engine
}

// Buf is all of mem. T is a type that TypeOf accepts, such as a struct of numbers.
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

// BufOf is count elements of type d in mem, which begins where d has displacement 0.
// What the elements cover is within mem, else using it is ErrBuffer; elements of T
// hold no pointers, else that is ErrType, as is a type that is null, freed or not
// committed. A Buffer outlives its type's being freed.
//
// C: none; the arguments buf, count and datatype of section 3.2.2.
func BufOf[T any](mem []T, count int, d Datatype) Buffer { return BufAt(mem, 0, count, d) }

// BufAt is BufOf with displacement 0 at mem[origin], for types that reach before it.
//
// C: none; the arguments buf, count and datatype of section 3.2.2.
func BufAt[T any](mem []T, origin, count int, d Datatype) (b Buffer) {
	if _, b.err = golang[T](); b.err != nil {
		return b
	}
	var t *dtype.Type
	if t, b.err = d.engine(); b.err != nil {
		return b
	}
	var e T
	if origin < 0 || origin > len(mem) {
		b.err = &class.Error{Class: class.Arg, Text: fmt.Sprintf("displacement 0 is at element %d of a slice of %d", origin, len(mem))}
		return b
	}
	b.err = b.b.Bind(memory(mem), int64(origin)*int64(unsafe.Sizeof(e)), t, int64(count))
	b.h = d.h
	return b
}

// BufPtr is count elements of type d in memory that is no slice of Go, such as that of C:
// displacement 0 is at p, nil for a type with absolute addresses. The caller answers for
// the memory: that all that the elements cover is there, and stays while calls use it. An
// address below the first page, of elements with data, is ErrBuffer. Outside of checking mode
// the type is not compared with that of the other side.
//
// C: none; the arguments buf, count and datatype of section 3.2.2, and MPI_BOTTOM.
func BufPtr(p unsafe.Pointer, count int, d Datatype) (b Buffer) {
	b.at(p, count, d)
	return b
}

// at is BufPtr where b, which is zero, is to stay: a Buffer that has just been made is slow to
// copy, since the words that were stored are loaded two at a time.
func (b *Buffer) at(p unsafe.Pointer, count int, d Datatype) {
	var t *dtype.Type
	if t, b.err = d.engine(); b.err != nil {
		return
	}
	b.err = b.b.At(p, t, int64(count))
	b.b.Untell()
	if b.err != nil || b.b.Size() == 0 {
		return
	}
	lb, _ := t.TrueExtent()
	if at := int64(uintptr(p)) + lb; at >= 0 && at < mem.FirstPage {
		b.err = &class.Error{Class: class.Buffer, Text: fmt.Sprintf("%s at address %#x, which is not valid", t.Describe(int64(count)), at)}
	}
	b.h = d.h
}

// BufError is a Buffer that was made wrongly: calls that use it fail with that class and
// text. It is for those who make Buffers of what their callers say, such as bindings of
// other languages: the error belongs to the call that the Buffer was made for.
//
// C: none; what is wrong with the arguments buf, count and datatype of section 3.2.2.
func (internals) BufError(cl Class, format string, args ...any) Buffer {
	return Buffer{err: &class.Error{Class: class.Class(cl), Text: fmt.Sprintf(format, args...)}}
}

// memory is the bytes of a slice whose elements hold no pointers.
func memory[T any](s []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(t))
}

// Len is the number of elements.
//
// C: none; the argument count of section 3.2.2.
func (b Buffer) Len() int { return int(b.b.Count()) }

// Datatype is the type of the elements, that of T for a Buffer of Buf, and null for
// the zero Buffer.
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
