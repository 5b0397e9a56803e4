package dtype

import (
	"encoding/binary"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// ExternalSize is the size of count elements of t in external32
// (MPI_Pack_external_size).
func (t *Type) ExternalSize(count int64) (int64, error) {
	switch {
	case t == nil:
		return 0, class.Errorf(class.Type, "type is MPI_DATATYPE_NULL")
	case count < 0:
		return 0, class.Errorf(class.Count, "count %d is negative", count)
	}
	var c checked
	n := c.mul(count, t.sig.external)
	return n, c.err("external32")
}

// PackExternal writes the data of the buffer to dst in the representation
// external32: big-endian, without padding, with the standard's sizes (MPI-5,
// 14.5.2). It returns how many bytes it wrote.
func (b *Buffer) PackExternal(dst []byte) (int64, error) { return b.external(dst, false) }

// UnpackExternal reads the data of the buffer from src, in external32, and returns
// how many bytes it has read.
func (b *Buffer) UnpackExternal(src []byte) (int64, error) { return b.external(src, true) }

func (b *Buffer) external(packed []byte, unpack bool) (int64, error) {
	size, err := b.t.ExternalSize(b.count)
	if err != nil {
		return 0, err
	}
	if size > int64(len(packed)) {
		return 0, class.Errorf(class.Truncate, "%d elements of %s take %d bytes of external32, the buffer has %d",
			b.count, b.t, size, len(packed))
	}
	if size > 0 {
		x := externalizer{base: b.base, rest: packed, unpack: unpack}
		for i := range b.count {
			x.node(b.t.elements(), b.origin+i*b.t.lay.extent())
		}
	}
	return size, nil
}

// externalizer converts elements in the order of the typemap: external32 has no
// displacements or padding, only this order.
type externalizer struct {
	base   unsafe.Pointer
	rest   []byte
	unpack bool
}

func (x *externalizer) node(n *node, off int64) {
	off += n.off
	switch n.kind {
	case run:
		x.elems(n.elem, off, n.elem.Size, n.size/n.elem.Size)
	case loop:
		if s := n.sub; s.kind == run && s.size == s.elem.Size {
			x.elems(s.elem, off, n.stride, n.n)
			return
		}
		for i := range n.n {
			x.node(n.sub, off+i*n.stride)
		}
	case list:
		for _, o := range n.offs {
			x.node(n.sub, off+o)
		}
	case pieces:
		for i, o := range n.offs {
			x.elems(n.elem, off+o, n.elem.Size, (n.cum[i+1]-n.cum[i])/n.elem.Size)
		}
	case seq:
		for _, s := range n.subs {
			x.node(s, off)
		}
	}
}

// elems converts n elements, stride apart in memory.
//
//go:nocheckptr
func (x *externalizer) elems(e *Elem, off, stride, n int64) {
	parts := int64(1)
	if e.Kind == Complex {
		parts = 2
	}
	size, external := e.Size/parts, int(e.External/parts)
	for i := range n {
		for p := range parts {
			mem := unsafe.Slice((*byte)(unsafe.Add(x.base, off+i*stride+p*size)), size)
			if x.unpack {
				e.decode(mem, x.rest[:external])
			} else {
				e.encode(x.rest[:external], mem)
			}
			x.rest = x.rest[external:]
		}
	}
}

// encode converts the number in mem to external32 in dst.
func (e *Elem) encode(dst, mem []byte) {
	be, ne := binary.BigEndian, binary.NativeEndian
	switch {
	case len(dst) == len(mem) && e.Format != Extended:
		swap(dst, mem)
	case e.Format == Extended:
		putQuad(dst, quadOfExtended(mem))
	case e.Format == Double64:
		putQuad(dst, quadOfDouble(ne.Uint64(mem)))
	case len(dst) == 2: // wchar_t of 4 bytes
		be.PutUint16(dst, uint16(ne.Uint32(mem)))
	case len(dst) == 4: // long of 8 bytes: the low bytes, with the sign (DT-31)
		v := ne.Uint64(mem)
		low := uint32(v)
		if e.Kind == Integer {
			low = low&^(1<<31) | uint32(v>>63)<<31
		}
		be.PutUint32(dst, low)
	default: // MPI_Aint of 4 bytes
		be.PutUint64(dst, uint64(int64(int32(ne.Uint32(mem)))))
	}
}

// decode converts the number of external32 in src to the representation of mem.
func (e *Elem) decode(mem, src []byte) {
	be, ne := binary.BigEndian, binary.NativeEndian
	switch {
	case len(src) == len(mem) && e.Format != Extended:
		swap(mem, src)
	case e.Format == Extended:
		extendedOfQuad(mem, getQuad(src))
	case e.Format == Double64:
		ne.PutUint64(mem, doubleOfQuad(getQuad(src)))
	case len(src) == 2:
		ne.PutUint32(mem, uint32(be.Uint16(src)))
	case len(src) == 4:
		v := uint64(be.Uint32(src))
		if e.Kind == Integer {
			v = uint64(int64(int32(v)))
		}
		ne.PutUint64(mem, v)
	default:
		ne.PutUint32(mem, uint32(be.Uint64(src)))
	}
}

// swap copies a number between native order and big-endian order.
func swap(dst, src []byte) {
	be, ne := binary.BigEndian, binary.NativeEndian
	switch len(dst) {
	case 1:
		dst[0] = src[0]
	case 2:
		be.PutUint16(dst, ne.Uint16(src))
	case 4:
		be.PutUint32(dst, ne.Uint32(src))
	case 8:
		be.PutUint64(dst, ne.Uint64(src))
	case 16:
		a, b := ne.Uint64(src), ne.Uint64(src[8:])
		if littleEndian() {
			a, b = b, a
		}
		be.PutUint64(dst, a)
		be.PutUint64(dst[8:], b)
	}
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }
