package mem

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
)

// FirstPage is the size in bytes of the lowest page of memory, where nothing is: programs in C give
// addresses there by mistake, and the standard gives some a meaning of their own. C has the same
// number (HALO_FIRST_PAGE).
const FirstPage = 4096

// Mem is n bytes of contiguous memory, or of the packed form of elements of a type. The zero
// Mem is no bytes.
//
// Elements that leave no gaps are contiguous memory, so that only what has gaps takes the
// longer way through the loops of its type. A count is not needed: the range says where
// the elements end. The loops are those of the type, found for each transfer by two loads and a
// comparison. dtype.Buffer has beside the address what a call was given and a Mem does not need:
// count, displacement 0 and the size of the memory.
//
// Four fields of a word each are the most that Go passes in registers.
type Mem struct {
	base  unsafe.Pointer // first byte; with typ the lowest byte of data in the first element
	typ   *dtype.Type    // nil: contiguous
	at, n int            // the range: bytes from base on, or of the packed form of the elements
}

// Of is the bytes of b.
func Of(b []byte) Mem { return Mem{base: unsafe.Pointer(unsafe.SliceData(b)), n: len(b)} }

// In is the packed form of the elements of b, which need not stay.
func In(b *dtype.Buffer) Mem {
	if s, ok := b.Contiguous(); ok {
		return Of(s)
	}
	return Mem{b.Lowest(), b.Type(), 0, int(b.Size())}
}

// Wrong is the memory of arguments that describe none, for the reason err. Only Err and Bytes may be
// asked of it.
func Wrong(err error) Mem { return Mem{base: unsafe.Pointer(&err), typ: new(dtype.Type), n: -1} }

// Err is why there is no memory, if m is Wrong.
func (m Mem) Err() error {
	if m.n >= 0 {
		return nil
	}
	return *(*error)(m.base)
}

// Len is the number of bytes.
func (m Mem) Len() int { return m.n }

// Contiguous reports whether Bytes gives the memory.
func (m Mem) Contiguous() bool { return m.typ == nil }

// Bytes is the memory, if it is contiguous.
func (m Mem) Bytes() (b []byte, ok bool) {
	if m.typ != nil {
		return nil, false
	}
	return m.bytes(), true
}

// bytes is the memory, which is contiguous. A range without bytes may end where the memory of
// another object begins, which a slice would keep alive.
func (m Mem) bytes() []byte {
	if m.n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(m.base, m.at)), m.n)
}

// Cut is bytes lo to hi.
func (m Mem) Cut(lo, hi int) Mem {
	if uint(lo) > uint(hi) || uint(hi) > uint(m.n) {
		panic("mem: range outside of the memory")
	}
	m.at, m.n = m.at+lo, hi-lo
	return m
}

// From is what follows the first lo bytes.
func (m Mem) From(lo int) Mem { return m.Cut(lo, m.n) }

// First is the first n bytes.
func (m Mem) First(n int) Mem { return m.Cut(0, n) }

// Pack copies bytes from byte at on to dst, as many as there is room for.
func (m Mem) Pack(dst []byte, at int) {
	if m.typ == nil {
		copy(dst, m.bytes()[at:])
		return
	}
	m.typ.Pack(m.base, dst[:min(len(dst), m.n-at)], int64(m.at+at))
}

// Unpack makes src the bytes from byte at on, as far as those go.
func (m Mem) Unpack(src []byte, at int) {
	if m.typ == nil {
		copy(m.bytes()[at:], src)
		return
	}
	m.typ.Unpack(m.base, src[:min(len(src), m.n-at)], int64(m.at+at))
}

// Gathers reports whether all bytes lie in blocks that are worth handing to the system one by
// one, by Blocks, instead of being packed.
func (m Mem) Gathers() bool { return m.typ == nil || m.typ.Gathers() }

// Blocks describes bytes at to end by slices of memory, as many as dst has room for; it returns
// their number and the position behind them.
func (m Mem) Blocks(dst [][]byte, at, end int) (k, next int) {
	if m.typ == nil {
		dst[0] = m.bytes()[at:end]
		return 1, end
	}
	k, to := m.typ.Slices(m.base, dst, int64(m.at+at), int64(min(end, m.n)-at))
	return k, int(to) - m.at
}

// scratch is the memory through which Copy goes in bytes: it stays in the nearest cache.
const scratch = 4 << 10

// Copy makes the first bytes of dst those of src, as many as both have. Memory that the two
// share makes the result undefined, unless both are contiguous.
func Copy(dst, src Mem) {
	if dst.typ == nil && src.typ == nil {
		copy(dst.bytes(), src.bytes())
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
