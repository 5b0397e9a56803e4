package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// Buffer is count elements of a type at a place in memory: what a communication
// sends or receives. It is checked when it is made, not when it is used.
type Buffer struct {
	base   unsafe.Pointer
	origin int64 // of displacement 0, from base
	root   node  // the type's program, count times, from base
	t      *Type
	n      int64
}

// Bind is count elements of t in mem, with displacement 0 at mem[origin]. All
// bytes must be within mem.
func Bind(mem []byte, origin int64, t *Type, count int64) (Buffer, error) {
	b, err := At(unsafe.Pointer(unsafe.SliceData(mem)), t, count)
	if err != nil || b.root.kind == nothing {
		return b, err
	}
	var c checked
	b.origin = origin
	b.root.off = c.add(b.root.off, origin)
	lo, hi := c.add(b.root.off, b.root.lo), c.add(b.root.off, b.root.hi)
	if c.overflow || lo < 0 || hi > int64(len(mem)) {
		return Buffer{}, fail(class.Buffer, "%s reach from byte %d to %d of a buffer of %d",
			t.Describe(count), lo, hi, len(mem))
	}
	return b, nil
}

// At is count elements of t with displacement 0 at an address that the caller
// answers for; nil is MPI_BOTTOM, for types with absolute addresses.
func At(addr unsafe.Pointer, t *Type, count int64) (Buffer, error) {
	switch {
	case t == nil:
		return Buffer{}, fail(class.Type, "type is MPI_DATATYPE_NULL")
	case !t.Committed():
		return Buffer{}, fail(class.Type, "type %s is not committed", t)
	case count < 0:
		return Buffer{}, fail(class.Count, "count %d is negative", count)
	}
	var c checked
	c.mul(count, t.sig.n)
	c.mul(count, t.lay.size)
	if far := c.mul(count, t.lay.extent()); far >= 0 {
		c.add(t.lay.trueUB, far)
	} else {
		c.add(t.lay.trueLB, far)
	}
	if c.overflow {
		return Buffer{}, fail(class.Count, "%d elements of %s exceed 64 bits", count, t)
	}
	return Buffer{addr, 0, t.times(count, false), t, count}, nil
}

// Type and Count return what Bind was given.
func (b *Buffer) Type() *Type { return b.t }

// Count is the number of elements.
func (b *Buffer) Count() int64 { return b.n }

// Size is the number of packed bytes.
func (b *Buffer) Size() int64 { return b.root.size }

// Contiguous returns the bytes if they are one run in memory.
func (b *Buffer) Contiguous() ([]byte, bool) {
	switch b.root.kind {
	case run:
		return b.bytes(b.root.off, b.root.size), true
	case nothing:
		return nil, true
	}
	return nil, false
}

//go:nocheckptr
func (b *Buffer) bytes(off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(b.base, off)), n)
}

// Pack copies the packed form from byte at on to dst, as much as there is room
// for, and returns how much that was.
func (b *Buffer) Pack(dst []byte, at int64) int { return b.transfer(dst, at, false) }

// Unpack copies bytes of the packed form, from byte at on, to their places, and
// returns how many those were: less than len(src) at the end.
func (b *Buffer) Unpack(src []byte, at int64) int { return b.transfer(src, at, true) }

func (b *Buffer) transfer(packed []byte, at int64, unpack bool) int {
	n := min(int64(len(packed)), b.root.size-at)
	if n <= 0 || at < 0 {
		return 0
	}
	t := transfer{b.base, unsafe.Pointer(unsafe.SliceData(packed)), unpack}
	t.part(&b.root, 0, -at, at, at+n)
	return int(n)
}
