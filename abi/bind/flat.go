package bind

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/mpi"
)

// flat is the calls of package mpi for slices of one type of numbers, at addresses of C. They
// need no Buffers, which cost more to make and to look through than the way from C to Go. They
// take only what is plainly right: elements of one predefined type on both sides, some of
// them, the operations that all numbers have, and memory on both sides, not the same.
type flat struct {
	bitwise bool // they have bitwise operations
	local   func(in, inout uintptr, n int, op mpi.Op) error

	accumulate    func(w *mpi.Window, origin uintptr, n, target, disp int, op mpi.Op) error
	getAccumulate func(w *mpi.Window, origin, result uintptr, n, target, disp int, op mpi.Op) error
}

// elementsAt is n elements at an address of C.
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

// startFlat finds the predefined types that lie as they are packed. The checking mode compares
// types as they were given, and gets Buffers of all.
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

// basic is a predefined type whose elements lie as they are packed; all 0 stands for other types.
type basic struct {
	size int32  // in bytes
	ops  uint32 // bit i: a reduction with the operation of handle opNull+i is defined on the elements
	typ  op.Type
	code dtype.Code
}

// basicOf describes a predefined type whose elements have a size.
func basicOf(d mpi.Datatype, size int) basic {
	b := basic{size: int32(size)}
	if b.typ, b.code = engine.Operand(d); b.typ.Size() != size {
		return b
	}
	for i, o := range predefinedOps[opNull:] {
		if engine.DefinedOn(o, d) {
			b.ops |= 1 << i
		}
	}
	return b
}

// operands describes the type of count operands at two addresses that the operation of handle o
// combines. It returns nil if anything is not plainly right.
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

// numbers is flat for numbers of a kind, nil if there are none of that size.
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

// mostFlat is how many elements at most take the short way: sizes in bytes do not overflow.
const mostFlat = 1 << 40

// flat is that for count elements of a type at two addresses, nil if anything is not plainly
// right.
func (l *Lib) flat(d handle, count int, here, there uintptr) *flat {
	if i := d - firstPredefined; i < handle(len(l.flats)) && uint(count-1) < mostFlat && here >= firstPage && there >= firstPage {
		return l.flats[i]
	}
	return nil
}

// combines reports whether an operation is one on the numbers of f, which may be nil.
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

// accumulates is combines for calls that may replace, too.
func (f *flat) accumulates(op mpi.Op) bool { return f != nil && op == mpi.Replace || f.combines(op) }

// bytesAt is count elements of a predefined type that lies as it is packed, false if it
// is none, there are none, or there is no memory.
func (l *Lib) bytesAt(address uintptr, count int, d handle) ([]byte, bool) {
	i := d - firstPredefined
	if i >= handle(len(l.basics)) || l.basics[i].size == 0 || uint(count-1) >= mostFlat || address < firstPage {
		return nil, false
	}
	return elementsAt[byte](address, count*int(l.basics[i].size)), true
}
