package dtype

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// Buffer is count elements of a type at a place in memory: what a communication
// sends or receives. It is checked when it is made, not when it is used.
//
// Its program is n times sub, stride apart, or one run if dense: the type's, with
// the count merged into the outermost loop where that is possible, and small
// enough to be made for every message.
type Buffer struct {
	base   unsafe.Pointer
	origin int64 // of displacement 0, from base
	room   int64 // bytes of memory from base on; 0 for an address
	t      *Type
	count  int64

	sub    *node
	off    int64 // of the first sub's zero, from base
	n      int64
	stride int64
	size   int64
	dense  bool
	untold bool // Code is Mixed
}

// Bind is count elements of t in mem, with displacement 0 at mem[origin]. All
// bytes must be within mem.
func Bind(mem []byte, origin int64, t *Type, count int64) (b Buffer, err error) {
	err = b.Bind(mem, origin, t, count)
	return b, err
}

// Bind is the function Bind where b, which is zero, is to stay: copies of a Buffer
// cost more than all that is checked.
func (b *Buffer) Bind(mem []byte, origin int64, t *Type, count int64) error {
	if err := b.fill(unsafe.Pointer(unsafe.SliceData(mem)), t, count); err != nil {
		return err
	}
	b.origin, b.room = origin, int64(len(mem))
	if b.size == 0 {
		return nil
	}
	b.off += origin
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
		return fail(class.Buffer, "%s reach from byte %d to %d of a buffer of %d",
			t.Describe(count), lo, hi, len(mem))
	}
	return nil
}

// At is count elements of t with displacement 0 at an address that the caller
// answers for; nil is MPI_BOTTOM, for types with absolute addresses.
func At(addr unsafe.Pointer, t *Type, count int64) (b Buffer, err error) {
	err = b.fill(addr, t, count)
	return b, err
}

// At is the function At where b, which is zero, is to stay, as with Bind.
func (b *Buffer) At(addr unsafe.Pointer, t *Type, count int64) error { return b.fill(addr, t, count) }

func (b *Buffer) fill(addr unsafe.Pointer, t *Type, count int64) error {
	switch {
	case t == nil:
		return fail(class.Type, "type is MPI_DATATYPE_NULL")
	case !t.Committed():
		return fail(class.Type, "type %s is not committed", t)
	case count < 0:
		return fail(class.Count, "count %d is negative", count)
	case count > t.most:
		return fail(class.Count, "%d elements of %s exceed 64 bits", count, t)
	}
	p := t.program()
	b.base, b.t, b.count = addr, t, count
	b.sub, b.n, b.stride = p, count, t.lay.extent()
	b.size = count * t.lay.size
	switch {
	case p.kind == run && (count == 1 || b.stride == p.size):
		b.dense = true
		b.off = p.off
	case count != 1 && p.kind == loop && b.stride == p.n*p.stride:
		b.sub, b.off, b.n, b.stride = p.sub, p.off, count*p.n, p.stride
	}
	return nil
}

// Type and Count return what Bind was given.
func (b *Buffer) Type() *Type { return b.t }

// Count is the number of elements.
func (b *Buffer) Count() int64 { return b.count }

// Size is the number of packed bytes.
func (b *Buffer) Size() int64 { return b.size }

// Contiguous returns the bytes if they are one run in memory, and somewhere.
func (b *Buffer) Contiguous() ([]byte, bool) {
	switch {
	case b.size == 0:
		return nil, true
	case b.dense && (b.base != nil || b.off != 0):
		return b.bytes(b.off, b.size), true
	}
	return nil, false
}

func (b *Buffer) bytes(off, n int64) []byte { return bytesAt(b.base, off, n) }

//go:nocheckptr
func bytesAt(base unsafe.Pointer, off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(base, off)), n)
}

// Pack copies the packed form from byte at on to dst, as much as there is room
// for, and returns how much that was.
func (b *Buffer) Pack(dst []byte, at int64) int { return b.transfer(dst, at, false) }

// Unpack copies bytes of the packed form, from byte at on, to their places, and
// returns how many those were: less than len(src) at the end.
func (b *Buffer) Unpack(src []byte, at int64) int { return b.transfer(src, at, true) }

// PackAll is Pack of all of b to the beginning of dst, which has room for it, and UnpackAll the
// reverse. They come to the loop with fewer calls within calls: from C, where a call is deep
// already, each takes some 12 ns.
func (b *Buffer) PackAll(dst []byte) int { return b.transferAll(dst, false) }

// UnpackAll is Unpack of all of b from the beginning of src, which has as much.
func (b *Buffer) UnpackAll(src []byte) int { return b.transferAll(src, true) }

func (b *Buffer) transferAll(packed []byte, unpack bool) int {
	if b.size == 0 {
		return 0
	}
	t := transfer{b.base, unsafe.Pointer(unsafe.SliceData(packed[:b.size])), unpack, b.t.by}
	switch s := b.sub; {
	case b.dense:
		t.run(b.off, 0, b.size)
	case b.n != 1:
		t.loop(s, b.stride, b.off, 0, b.n)
	case s.kind == loop:
		t.loop(s.sub, s.stride, b.off+s.off, 0, s.n)
	default:
		t.whole(s, b.off, 0)
	}
	return int(b.size)
}

func (b *Buffer) transfer(packed []byte, at int64, unpack bool) int {
	n := min(int64(len(packed)), b.size-at)
	if n <= 0 || at < 0 {
		return 0
	}
	t := transfer{b.base, unsafe.Pointer(unsafe.SliceData(packed)), unpack, b.t.by}
	switch {
	case b.dense:
		t.run(b.off+at, 0, n)
	case b.n == 1:
		t.part(b.sub, b.off, -at, at, at+n)
	default:
		t.repetitions(b.sub, b.stride, nil, b.off, -at, at, at+n)
	}
	return int(n)
}
