package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// Buffer is count elements of a type at a place in memory: what a communication
// sends or receives. It is checked when it is made, not when it is used.
//
// It holds the arguments of the call, and the values that are read most often. The loops
// over its memory belong to the type: see repetitions.
type Buffer struct {
	base    unsafe.Pointer
	origin  int64 // of displacement 0, from base
	room    int64 // bytes of memory from base on; 0 for an address
	t       *Type
	count   int64
	size    int64 // packed
	dense   bool  // one run of bytes in memory
	foreign bool  // of a program in another language: see Foreign
}

// Bind returns the Buffer of count elements of t in mem, with displacement 0 at
// mem[origin]. All bytes must be within mem.
func Bind(mem []byte, origin int64, t *Type, count int64) (b Buffer, err error) {
	err = b.Bind(mem, origin, t, count)
	return b, err
}

// Bind does what the function Bind does, in place; b must be zero. Copying a Buffer
// costs more than all of its checks.
func (b *Buffer) Bind(mem []byte, origin int64, t *Type, count int64) error {
	if err := b.fill(unsafe.Pointer(unsafe.SliceData(mem)), t, count); err != nil {
		return err
	}
	b.origin, b.room = origin, int64(len(mem))
	if b.size == 0 {
		return nil
	}
	lo, hi := t.lay.trueLB, t.lay.trueUB
	if far := (count - 1) * t.lay.extent(); far >= 0 {
		hi += far
	} else {
		lo += far
	}
	var c checked
	lo, hi = c.add(lo, origin), c.add(hi, origin)
	if c.overflow || lo < 0 || hi > int64(len(mem)) {
		*b = Buffer{}
		return class.Errorf(class.Buffer, "%s reach from byte %d to %d of a buffer of %d",
			t.Describe(count), lo, hi, len(mem))
	}
	return nil
}

// At returns the Buffer of count elements of t with displacement 0 at addr. The caller
// guarantees that the memory exists; nil is MPI_BOTTOM, for types with absolute addresses.
func At(addr unsafe.Pointer, t *Type, count int64) (b Buffer, err error) {
	err = b.fill(addr, t, count)
	return b, err
}

// At does what the function At does, in place; b must be zero.
func (b *Buffer) At(addr unsafe.Pointer, t *Type, count int64) error { return b.fill(addr, t, count) }

// FromLowest returns the Buffer of count elements of t that has its lowest byte of data in the first element at
// lowest. There may be no memory at displacement 0, so a pointer to it would be invalid.
func FromLowest(lowest unsafe.Pointer, t *Type, count int64) (b Buffer, err error) {
	err = b.fill(lowest, t, count)
	if err == nil {
		b.origin = -t.lay.trueLB
	}
	return b, err
}

func (b *Buffer) fill(addr unsafe.Pointer, t *Type, count int64) error {
	switch {
	case t == nil:
		return class.Errorf(class.Type, "type is MPI_DATATYPE_NULL")
	case !t.Committed():
		return class.Errorf(class.Type, "type %s is not committed", t)
	case count < 0:
		return class.Errorf(class.Count, "count %d is negative", count)
	case count > t.most:
		return class.Errorf(class.Count, "%d elements of %s exceed 64 bits", count, t)
	}
	p := t.program()
	b.base, b.t, b.count = addr, t, count
	b.size = count * t.lay.size
	b.dense = p.kind == run && (count == 1 || t.lay.extent() == p.size)
	return nil
}

// repetitions describes the memory as n repetitions of sub, stride bytes apart, the first at off
// from base. If the stride of the type's outermost loop continues from element to element, sub
// is the body of that loop; else sub is the program of an element. b must have data.
func (b *Buffer) repetitions() (sub *node, stride, n, off int64) {
	p, extent := b.t.program(), b.t.lay.extent()
	if b.count != 1 && p.kind == loop && extent == p.n*p.stride {
		return p.sub, p.stride, b.count * p.n, b.origin + p.off
	}
	return p, extent, b.count, b.origin
}

// lowest is the offset of the first element's lowest byte of data from base.
func (b *Buffer) lowest() int64 { return b.origin + b.t.lay.trueLB }

// Type is the type of the elements.
func (b *Buffer) Type() *Type { return b.t }

// Origin is the address of displacement 0 of the first element.
func (b *Buffer) Origin() uintptr { return uintptr(b.base) + uintptr(b.origin) }

// Count is the number of elements.
func (b *Buffer) Count() int64 { return b.count }

// Size is the number of packed bytes.
func (b *Buffer) Size() int64 { return b.size }

// Contiguous returns the bytes if they are one run in memory and their address is not 0.
func (b *Buffer) Contiguous() ([]byte, bool) {
	switch {
	case b.size == 0:
		return nil, true
	case b.dense && (b.base != nil || b.lowest() != 0):
		return b.bytes(b.lowest(), b.size), true
	}
	return nil, false
}

func (b *Buffer) bytes(off, n int64) []byte { return bytesAt(b.base, off, n) }

//go:nocheckptr
func bytesAt(base unsafe.Pointer, off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(base, off)), n)
}

// Pack copies bytes of the packed form, from byte at on, to dst until dst is full, and
// returns the number of bytes copied.
func (b *Buffer) Pack(dst []byte, at int64) int { return b.transfer(dst, at, false) }

// Unpack copies src, which is the packed form from byte at on, to the elements and
// returns the number of bytes copied: less than len(src) if the packed form ends before.
func (b *Buffer) Unpack(src []byte, at int64) int { return b.transfer(src, at, true) }

// PackAll packs all of b to the beginning of dst, which must have room for it. PackAll and
// UnpackAll reach the copy loop with fewer nested calls than Pack: below a call from C, each
// nested call costs some 12 ns.
func (b *Buffer) PackAll(dst []byte) int { return b.transferAll(dst, false) }

// UnpackAll unpacks all of b from the beginning of src, which must hold as many bytes.
func (b *Buffer) UnpackAll(src []byte) int { return b.transferAll(src, true) }

func (b *Buffer) transferAll(packed []byte, unpack bool) int {
	if b.size == 0 {
		return 0
	}
	t := transfer{b.base, unsafe.Pointer(unsafe.SliceData(packed[:b.size])), unpack, b.t.by}
	if b.dense {
		t.run(b.lowest(), 0, b.size)
		return int(b.size)
	}
	if b.count != 1 {
		s, stride, n, off := b.repetitions()
		t.loop(s, stride, off, 0, n)
		return int(b.size)
	}
	if s := b.t.program(); s.kind == loop { // not by whole: its call takes an eighth of a short loop
		t.loop(s.sub, s.stride, b.origin+s.off, 0, s.n)
	} else {
		t.whole(s, b.origin, 0)
	}
	return int(b.size)
}

func (b *Buffer) transfer(packed []byte, at int64, unpack bool) int {
	n := min(int64(len(packed)), b.size-at)
	if n <= 0 || at < 0 {
		return 0
	}
	t := transfer{b.base, unsafe.Pointer(unsafe.SliceData(packed)), unpack, b.t.by}
	if b.dense {
		t.run(b.lowest()+at, 0, n)
		return int(n)
	}
	if sub, stride, times, off := b.repetitions(); times == 1 {
		t.part(sub, off, -at, at, at+n)
	} else {
		t.repetitions(sub, stride, nil, off, -at, at, at+n)
	}
	return int(n)
}
