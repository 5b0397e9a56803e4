package mpi

import (
	"reflect"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// CreateOp makes an operation of fn, which sets each inout[i] to the combination of in[i] and
// inout[i], in this order. The operation must be associative: Halo combines operands in the
// order of the ranks, but groups them in any way. If commute is true, Halo may change the order,
// too. fn is called with any part of the elements, by any goroutine; ReduceLocal calls it in the
// caller's goroutine. fn must not change in, must not keep in or inout, and must not communicate
// (with HALO_CHECK=1 an attempt is ErrOther), but it may call Abort. If it panics, the call on
// that rank fails with ErrOther, and the results are undefined at all ranks.
//
// The operation is defined on elements of T in slices, and on Buffers whose elements have the
// same basic types as T, in any layout: fn gets them as elements of T. Other types are ErrOp. A
// nil fn gives the null operation.
//
// C: MPI_Op_create, section 6.9.5.
//
//halo:plaindata T
func CreateOp[T any](fn func(in, inout []T), commute bool) Op {
	if fn == nil {
		return Op{}
	}
	var e T
	size := max(unsafe.Sizeof(e), 1)
	elements := func(b []byte) []T {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b))/size)
	}
	memory := func(b Buffer) []T {
		m, _ := b.b.Memory()
		return elements(m)
	}
	return Op{user: &userOp{
		User: op.User{
			Fn:       func(in, inout []byte) { fn(elements(in), elements(inout)) },
			Commutes: commute,
			Of:       reflect.TypeFor[T](),
		},
		on: func(in, inout Buffer) { fn(memory(in), memory(inout)) },
	}}
}

// CreateOpFunc makes an operation for elements of any type, including derived ones. It differs
// from CreateOp in that fn gets the operands as Buffers of the same number of elements.
// Buffer.Datatype is the datatype that was passed to the reduction for the elements to send; fn can
// ask it even if the program has freed it meanwhile.
// MemoryOf returns the memory of the elements, which are one extent of the type apart. The
// contents of gaps between data are undefined. If the type has gaps, each of the two operands
// takes memory for the span of one element, or 16 KiB if that is more.
//
// C: MPI_Op_create and MPI_User_function, section 6.9.5.
func CreateOpFunc(fn func(in, inout Buffer), commute bool) Op {
	if fn == nil {
		return Op{}
	}
	return Op{user: &userOp{User: op.User{Commutes: commute}, on: fn}}
}

// InCalls is the operation o, made by CreateOp or CreateOpFunc, with the restriction that only
// goroutines inside a call run its function: goroutines that wait or test, for this operation or
// another, such as the caller of Allreduce. While there is no such goroutine, nonblocking
// reductions make no progress. It exists for functions that must run in threads of the program,
// such as those of other languages.
//
// C: MPI_Op_create, section 6.9.5.
func (internals) InCalls(o Op) Op {
	if o.user == nil {
		return o
	}
	u := &userOp{User: o.user.User, on: o.user.on}
	u.User.InCalls = true
	return Op{user: u}
}

// MemoryOf returns the memory of the elements of a Buffer as elements of T, from the first whole
// one to the last, and the index in it at which displacement 0 of the first element lies. It is
// the inverse of BufAt; the function of CreateOpFunc accesses its operands with it. The memory
// is nil if there is none, if it is not aligned for T, or if T contains pointers.
// memory is nil.
//
// C: none; see MPI_User_function, section 6.9.5.
func MemoryOf[T any](b Buffer) (mem []T, origin int) {
	var e T
	size := int(unsafe.Sizeof(e))
	if t, err := golang[T](); err != nil || t == nil || b.err != nil || size == 0 {
		return nil, 0
	}
	bytes, at := b.b.Memory()
	skip := int(at) % size // bytes before the first T whose distance from displacement 0 is a multiple of size
	if skip < 0 {
		skip += size
	}
	if n := (len(bytes) - skip) / size; n > 0 {
		if p := unsafe.Pointer(&bytes[skip]); uintptr(p)%unsafe.Alignof(e) == 0 {
			return unsafe.Slice((*T)(p), n), (int(at) - skip) / size
		}
	}
	return nil, 0
}

// forBuffer is the operation for the packed elements of a Buffer.
func (u *userOp) forBuffer(b *Buffer) (*op.User, error) {
	t := b.b.Type()
	switch {
	case u.freed.Load():
		return nil, op.Check(0, 0)
	case t == nil: // then there are no elements either
		return &op.User{Commutes: u.Commutes, InCalls: u.InCalls}, nil
	}
	if t.IsHandle() {
		return nil, op.Check(0, op.Handle)
	}
	one := b.b.First(1)
	if one.Overlaps() {
		return nil, class.Errorf(class.Type, "%s cannot be reduced: bytes of memory occur twice in an element", t)
	}
	if u.Of == nil {
		return u.forElements(b.Datatype()), nil
	}
	elem, err := types().Of(u.Of)
	if err != nil || !dtype.SameSignature(elem, 1, t, 1) {
		return nil, class.Errorf(class.Op, "the operation was made for elements of %v, not of %s", u.Of, t.Describe(1))
	}
	return u.forElements(types().lasting(elem)), nil
}

// forElements is the operation for packed elements of d.
func (u *userOp) forElements(d Datatype) *op.User {
	form := op.NewForm(d.h.t)
	return &op.User{Commutes: u.Commutes, InCalls: u.InCalls, Fn: func(in, inout []byte) {
		form.Apply(in, inout, func(in, inout dtype.Buffer) { d.h.given(u.on, Buffer{b: in, h: d.h}, Buffer{b: inout, h: d.h}) })
	}}
}

// elemType is the datatype of elements of slices.
func elemType[T Elem]() Datatype {
	t, err := golang[T]()
	if err != nil { // not possible: T is a number
		panic("mpi: " + err.Error())
	}
	return types().lasting(t)
}
