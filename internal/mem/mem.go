package mem

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
)

// FirstPage is the size in bytes of the lowest page of memory, which is never mapped. C programs
// pass addresses in it by mistake, and the standard defines some of them as special values. C has
// the same number (HALO_FIRST_PAGE).
const FirstPage = 4096

// Mem is n bytes of contiguous memory, or of the packed form of elements of a type. The zero
// Mem has no bytes.
//
// Elements without gaps become contiguous memory, so only layouts with gaps take the slow path
// through the loops of a type. A Mem has no count, because the range says where the elements
// end. The loops belong to the type; each transfer finds them by two loads and a comparison.
// Unlike dtype.Buffer, a Mem does not keep the count, displacement 0 and the size of the memory.
//
// Go keeps a struct in registers only if it has at most four fields, of four words in all.
type Mem struct {
	base  unsafe.Pointer // first byte; with typ, the lowest byte of data in the first element
	typ   *dtype.Type    // nil: contiguous
	at, n int            // the range: bytes from base on, or of the packed form of the elements
}

// Of returns the Mem of the bytes of b.
func Of(b []byte) Mem { return Mem{base: unsafe.Pointer(unsafe.SliceData(b)), n: len(b)} }

// In returns the Mem of the packed form of the elements of b. The Mem does not refer to b.
func In(b *dtype.Buffer) Mem {
	if s, ok := b.Contiguous(); ok {
		return Of(s)
	}
	return Mem{b.Lowest(), b.Type(), 0, int(b.Size())}
}

// Wrong returns a Mem that stands for invalid arguments and holds their error. Only Err and Bytes
// may be called on it.
func Wrong(err error) Mem { return Mem{base: unsafe.Pointer(&err), typ: new(dtype.Type), n: -1} }

// Err is the error of a Mem that Wrong has made, else nil.
func (m Mem) Err() error {
	if m.n >= 0 {
		return nil
	}
	return *(*error)(m.base)
}

// Len is the number of bytes.
func (m Mem) Len() int { return m.n }

// Contiguous reports whether the memory is contiguous, so that Bytes returns it.
func (m Mem) Contiguous() bool { return m.typ == nil }

// Bytes is the memory, if it is contiguous.
func (m Mem) Bytes() (b []byte, ok bool) {
	if m.typ != nil {
		return nil, false
	}
	return m.bytes(), true
}

// bytes is the memory, which must be contiguous. It is nil for an empty range: such a range may
// begin where another object begins, which a slice would keep alive.
func (m Mem) bytes() []byte {
	if m.n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(m.base, m.at)), m.n)
}

// Cut returns the Mem of the bytes [lo, hi).
func (m Mem) Cut(lo, hi int) Mem {
	if uint(lo) > uint(hi) || uint(hi) > uint(m.n) {
		panic("mem: range outside of the memory")
	}
	m.at, m.n = m.at+lo, hi-lo
	return m
}

// From returns the Mem without its first lo bytes.
func (m Mem) From(lo int) Mem { return m.Cut(lo, m.n) }

// First returns the Mem of the first n bytes.
func (m Mem) First(n int) Mem { return m.Cut(0, n) }

// MoveMin is the length in bytes from which on Move calls the mover of package dtype. For shorter blocks
// the mover is not worth the call.
const MoveMin = 16 << 10

// Move copies src to dst as copy does. It is short enough to be inlined.
func Move(dst, src []byte) {
	if len(src) < MoveMin {
		copy(dst, src)
		return
	}
	dtype.Move(dst, src)
}

// Pack copies bytes from byte at on to dst, until dst is full or the bytes end.
func (m Mem) Pack(dst []byte, at int) {
	if m.typ == nil {
		Move(dst, m.bytes()[at:])
		return
	}
	m.typ.Pack(m.base, dst[:min(len(dst), m.n-at)], int64(m.at+at))
}

// Unpack copies src to the bytes from byte at on, until src or the bytes end.
func (m Mem) Unpack(src []byte, at int) {
	if m.typ == nil {
		Move(m.bytes()[at:], src)
		return
	}
	m.typ.Unpack(m.base, src[:min(len(src), m.n-at)], int64(m.at+at))
}

// Gathers reports whether all blocks are so long that passing them to the kernel one by one, by
// Blocks, is faster than packing.
func (m Mem) Gathers() bool { return m.typ == nil || m.typ.Gathers() }

// Blocks describes the bytes [at, end) by slices of memory, at most len(dst), and returns their
// number and the position after them.
func (m Mem) Blocks(dst [][]byte, at, end int) (k, next int) {
	if m.typ == nil {
		dst[0] = m.bytes()[at:end]
		return 1, end
	}
	k, to := m.typ.Slices(m.base, dst, int64(m.at+at), int64(min(end, m.n)-at))
	return k, int(to) - m.at
}

// Buffer returns the Buffer of the elements of t whose packed form m is. m must be a whole number of
// elements from the first one on, as In returns it.
func (m Mem) Buffer(t *dtype.Type) (dtype.Buffer, error) {
	return dtype.FromLowest(unsafe.Add(m.base, m.at), t, int64(m.n)/t.Size())
}

// scratch is the size in bytes of Copy's intermediate buffer, which fits the first-level cache.
const scratch = 4 << 10

// Copy copies the first bytes of src to dst, as many as both have. If the two share memory the
// result is undefined, unless both are contiguous.
func Copy(dst, src Mem) {
	if dst.typ == nil && src.typ == nil {
		Move(dst.bytes(), src.bytes())
		return
	}
	copyPacked(dst, src)
}

func copyPacked(dst, src Mem) {
	switch {
	case src.typ == nil:
		dst.Unpack(src.bytes(), 0)
	case dst.typ == nil:
		src.Pack(dst.bytes(), 0)
	default:
		var piece [scratch]byte
		for at, n := 0, min(dst.n, src.n); at < n; at += scratch {
			part := piece[:min(scratch, n-at)]
			src.Pack(part, at)
			dst.Unpack(part, at)
		}
	}
}
