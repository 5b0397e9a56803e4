package mpi

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// CreateOp makes an operation of fn, which makes each inout[i] the combination of
// in[i] and inout[i], in this order. It must be associative: operands are combined
// in the order of the ranks, but in any groups. With commute their order is free,
// too. fn is called with any part of the elements, by a goroutine that need not be
// the caller's, and with ReduceLocal by the caller's; it neither changes nor keeps
// in, keeps no inout, and does not communicate (with HALO_CHECK=1 trying to is
// ErrOther), but may call Abort. When it panics, the call on that rank fails with
// ErrOther, and the result is nothing that can be relied on, elsewhere neither.
//
// The operation is for elements of T, in slices, and in Buffers whose elements are
// made of the same basic types as T, however they lie in memory: fn gets them as
// elements of T. Others are ErrOp. A nil fn gives the null operation.
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

// CreateOpFunc makes an operation for elements of any type, derived ones among them.
// It is CreateOp but for fn, which gets the operands as Buffers of the same number of
// elements: Buffer.Datatype is the handle that was given to the reduction, that of the
// elements to send, and MemoryOf is where the elements are, an extent apart as the
// type says. What is in gaps between data has no meaning; but it takes memory: where
// there are gaps, each of the two operands takes what one element spans, or 16 KiB if
// that is more.
//
// C: MPI_Op_create and MPI_User_function, section 6.9.5.
func CreateOpFunc(fn func(in, inout Buffer), commute bool) Op {
	if fn == nil {
		return Op{}
	}
	return Op{user: &userOp{User: op.User{Commutes: commute}, on: fn}}
}

// InCalls is the operation o, of CreateOp or CreateOpFunc, the function of which is
// called only by goroutines that are inside a call at that time: one that waits or tests,
// for this or for anything else, such as the caller of Allreduce. As long as there is none,
// nonblocking reductions stand still. That is for functions that belong to threads, as
// those of other languages do.
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

// MemoryOf is the memory of the elements of a Buffer as elements of T, from the first
// whole one to the last, and where in it the displacement 0 of the first element is:
// the reverse of BufAt. An operation that CreateOpFunc has made sees operands by it.
// If there is no memory, or it does not lie as T must, or T holds pointers, the
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
	skip := int(at) % size // of the bytes: what is before the first T that is in step with displacement 0
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

// forBuffer is the operation for the elements of a Buffer, packed.
func (u *userOp) forBuffer(b *Buffer) (*op.User, error) {
	t := b.b.Type()
	switch {
	case u.freed.Load():
		return nil, op.Check(0, 0)
	case t == nil: // and no elements
		return &op.User{Commutes: u.Commutes, InCalls: u.InCalls}, nil
	}
	if t.IsHandle() {
		return nil, op.Check(0, op.Handle)
	}
	one := b.b.First(1)
	if one.Overlaps() {
		return nil, &class.Error{Class: class.Type, Text: fmt.Sprintf("%s cannot be reduced: bytes of memory occur twice in an element", t)}
	}
	if u.Of == nil {
		return u.forElements(b.Datatype()), nil
	}
	elem, err := types().Of(u.Of)
	if err != nil || !dtype.SameSignature(elem, 1, t, 1) {
		return nil, &class.Error{Class: class.Op, Text: fmt.Sprintf("the operation was made for elements of %v, not of %s", u.Of, t.Describe(1))}
	}
	return u.forElements(types().lasting(elem)), nil
}

// forElements is the operation for packed elements of d.
func (u *userOp) forElements(d Datatype) *op.User {
	form := op.NewForm(d.h.t)
	return &op.User{Commutes: u.Commutes, InCalls: u.InCalls, Fn: func(in, inout []byte) {
		form.Apply(in, inout, func(in, inout dtype.Buffer) { u.on(Buffer{b: in, h: d.h}, Buffer{b: inout, h: d.h}) })
	}}
}

// elemType is the datatype of elements of slices.
func elemType[T Elem]() Datatype {
	t, err := golang[T]()
	if err != nil { // of numbers
		panic("mpi: " + err.Error())
	}
	return types().lasting(t)
}
