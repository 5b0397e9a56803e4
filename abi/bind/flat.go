package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/mpi"
)

// flat is the fast path for contiguous numbers: the calls of package mpi for slices of one
// type of numbers, at addresses of C. It needs no Buffers, which cost more to make and to
// examine than the call from C to Go. It takes only valid and simple arguments: one predefined
// type on both sides, at least one element, an operation that all numbers have, and an address
// of memory on both sides.
type flat struct {
	bitwise bool // the type has bitwise operations
	local   func(in, inout uintptr, n int, op mpi.Op) error

	accumulate    func(w *mpi.Window, origin uintptr, n, target, disp int, op mpi.Op) error
	getAccumulate func(w *mpi.Window, origin, result uintptr, n, target, disp int, op mpi.Op) error
}

// elementsAt returns the n elements at an address of C as a slice.
//
//go:nocheckptr
func elementsAt[T any](address uintptr, n int) []T {
	return unsafe.Slice((*T)(pointer(address)), n)
}

func flatOf[T interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}](bitwise bool) *flat {
	return &flat{
		bitwise: bitwise,
		local: func(in, inout uintptr, n int, op mpi.Op) error {
			return mpi.ReduceLocal(elementsAt[T](in, n), elementsAt[T](inout, n), op)
		},
		accumulate: func(w *mpi.Window, origin uintptr, n, target, disp int, op mpi.Op) error {
			return mpi.Accumulate(w, elementsAt[T](origin, n), target, disp, op)
		},
		getAccumulate: func(w *mpi.Window, origin, result uintptr, n, target, disp int, op mpi.Op) error {
			return mpi.GetAccumulate(w, elementsAt[T](origin, n), elementsAt[T](result, n), target, disp, op)
		},
	}
}

// startFlat fills flats and basics for the predefined types whose layout in memory is their
// packed form. Checking mode compares the types of the program and needs a Buffer in each
// call, so that there is no fast path in it.
func (l *Lib) startFlat() {
	if checking() {
		return
	}
	for _, p := range predefinedTypes {
		i := p.handle - firstPredefined
		size, kind := fastType(p.name, l.predefined[i])
		if kind >= FastDense {
			l.basics[i] = basicOf(l.predefined[i], size)
		}
		l.flats[i] = numbers(kind, size)
	}
}

// basic describes a predefined type whose layout in memory is its packed form. It is zero for
// other types.
type basic struct {
	size int32  // in bytes
	ops  uint32 // bit i: a reduction with the operation of handle opNull+i is defined on the elements
	typ  op.Type
	code dtype.Code
}

// basicOf describes a predefined type whose elements have size bytes.
func basicOf(d mpi.Datatype, size int) basic {
	b := basic{size: int32(size)}
	b.typ, b.code = engine.Operand(d)
	if b.typ.Size() != size {
		return b
	}
	for i, o := range predefinedOps[opNull:] {
		if engine.DefinedOn(o, d) {
			b.ops |= 1 << i
		}
	}
	return b
}

// operands returns the type of a reduction by the operation of handle o of count elements at
// two different addresses. It returns nil if the arguments are not valid for the fast path.
func (l *Lib) operands(send, recv uintptr, count int, d, o handle) *basic {
	i, bit := d-firstPredefined, o-opNull
	if i >= handle(len(l.basics)) || uint(count-1) >= mostFlat || send < firstPage || recv < firstPage || send == recv {
		return nil
	}
	if b := &l.basics[i]; bit < 32 && b.ops>>bit&1 != 0 {
		return b
	}
	return nil
}

// numbers returns the flat for numbers of a kind and size, or nil if there is none.
func numbers(kind FastKind, size int) *flat {
	type number struct {
		kind FastKind
		size int
	}
	switch (number{kind, size}) {
	case number{FastSigned, 1}:
		return flatOf[int8](true)
	case number{FastSigned, 2}:
		return flatOf[int16](true)
	case number{FastSigned, 4}:
		return flatOf[int32](true)
	case number{FastSigned, 8}:
		return flatOf[int64](true)
	case number{FastUnsigned, 1}:
		return flatOf[uint8](true)
	case number{FastUnsigned, 2}:
		return flatOf[uint16](true)
	case number{FastUnsigned, 4}:
		return flatOf[uint32](true)
	case number{FastUnsigned, 8}:
		return flatOf[uint64](true)
	case number{FastFloating, 4}:
		return flatOf[float32](false)
	case number{FastFloating, 8}:
		return flatOf[float64](false)
	}
	return nil
}

// mostFlat limits the number of elements on the fast path, so that sizes in bytes do not
// overflow.
const mostFlat = 1 << 40

// flat returns the flat for count elements of a type at two addresses, or nil if the arguments
// are not valid for the fast path.
func (l *Lib) flat(d handle, count int, here, there uintptr) *flat {
	if i := d - firstPredefined; i < handle(len(l.flats)) && uint(count-1) < mostFlat && here >= firstPage && there >= firstPage {
		return l.flats[i]
	}
	return nil
}

// combines reports whether an operation is defined on the numbers of f, which may be nil.
func (f *flat) combines(op mpi.Op) bool {
	op = engine.In(op, 0)
	switch {
	case f == nil:
	case op == mpi.Sum || op == mpi.Min || op == mpi.Max || op == mpi.Prod:
		return true
	case op == mpi.Band || op == mpi.Bor || op == mpi.Bxor:
		return f.bitwise
	}
	return false
}

// accumulates is combines for calls that also allow MPI_REPLACE.
func (f *flat) accumulates(op mpi.Op) bool { return f != nil && op == mpi.Replace || f.combines(op) }

// bytesAt returns the memory of count elements of a predefined type whose layout in memory is
// its packed form. It returns false for other types, for a count below 1, and if address is
// no address of memory.
func (l *Lib) bytesAt(address uintptr, count int, d handle) ([]byte, bool) {
	i := d - firstPredefined
	if i >= handle(len(l.basics)) || l.basics[i].size == 0 || uint(count-1) >= mostFlat || address < firstPage {
		return nil, false
	}
	return elementsAt[byte](address, count*int(l.basics[i].size)), true
}
