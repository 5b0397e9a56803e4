package coll

import (
	"unsafe"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// data is n bytes that a collective sends, receives or copies: those of memory, or
// of the packed form of a layout. Byte i of a packed form takes the place of byte i
// of a slice, so that algorithms, and the choice between them, know no difference.
//
// A layout that is dense is memory, so that what is not takes the longer way through
// Pack and Unpack. Four words: it travels in registers.
type data struct {
	base   *byte         // where memory begins; nil if it is a layout's
	layout *dtype.Buffer // nil if it is memory
	at, n  int           // the range of either
}

// memory is the bytes of b.
func memory(b []byte) data { return data{base: unsafe.SliceData(b), n: len(b)} }

// laidOut is the packed form of l.
func laidOut(l *dtype.Buffer) data {
	if b, ok := l.Contiguous(); ok {
		return memory(b)
	}
	return data{layout: l, n: int(l.Size())}
}

// cut is bytes lo to hi of d.
func (d data) cut(lo, hi int) data {
	if uint(lo) > uint(hi) || uint(hi) > uint(d.n) {
		panic("coll: range outside of data")
	}
	d.at, d.n = d.at+lo, hi-lo
	return d
}

// from is what follows the first lo bytes.
func (d data) from(lo int) data { return d.cut(lo, d.n) }

// first is the first n bytes.
func (d data) first(n int) data { return d.cut(0, n) }

// bytes is the memory, for what is no layout's.
func (d data) bytes() []byte {
	if d.n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(d.address()), d.n)
}

// part is the range of the layout, nothing if it is memory.
func (d data) part() dtype.Part {
	if d.layout == nil {
		return dtype.Part{}
	}
	return dtype.Part{Buffer: d.layout, At: int64(d.at), N: int64(d.n)}
}

// mem is d as messages take it.
func (d data) mem() mem.Mem {
	if d.layout != nil {
		return mem.In(d.layout).Cut(d.at, d.at+d.n)
	}
	return mem.Of(d.bytes())
}

// read copies as many bytes of d, from byte at on, as there is room for in dst.
func (d data) read(dst []byte, at int) {
	if d.layout == nil {
		copy(dst, d.bytes()[at:])
		return
	}
	d.pack(dst, at)
}

func (d data) pack(dst []byte, at int) {
	d.layout.Pack(dst[:min(len(dst), d.n-at)], int64(d.at+at))
}

// write makes src the bytes of d from byte at on, as far as those go.
func (d data) write(src []byte, at int) {
	if d.layout == nil {
		copy(d.bytes()[at:], src)
		return
	}
	d.unpack(src, at)
}

func (d data) unpack(src []byte, at int) {
	d.layout.Unpack(src[:min(len(src), d.n-at)], int64(d.at+at))
}

// fill makes the first bytes of d those of src, as many as both have.
func (d data) fill(src data) {
	switch {
	case src.layout == nil:
		d.write(src.bytes(), 0)
	case d.layout == nil:
		src.read(d.bytes(), 0)
	default:
		dtype.Copy(d.part(), src.part())
	}
}

// same reports whether a and b begin at the same place. Of what check has let pass
// they are then the same bytes in the same order, as far as both go.
func same(a, b data) bool {
	if a.layout == nil && b.layout == nil {
		return a.n > 0 && b.n > 0 && a.address() == b.address()
	}
	return a.n > 0 && b.n > 0 && &a.run(0)[0] == &b.run(0)[0]
}

// address is where memory begins, of which there is some.
func (d data) address() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(d.base), d.at) }

// run is the bytes of d from byte i on that stand one behind the other.
func (d data) run(i int) []byte {
	if d.layout == nil {
		return d.bytes()[i:]
	}
	var one [1][]byte
	d.layout.Slices(one[:], int64(d.at+i), int64(d.n-i))
	return one[0]
}

// alike reports whether a and b, which begin at the same place, are the same bytes in
// the same order, as far as both go.
func alike(a, b data) bool {
	if a.layout != nil && b.layout != nil && a.layout.Type() == b.layout.Type() && (a.at-b.at)%int(a.layout.Type().Size()) == 0 {
		return true
	}
	for i, n := 0, min(a.n, b.n); i < n; {
		x, y := a.run(i), b.run(i)
		if &x[0] != &y[0] {
			return false
		}
		i += min(len(x), len(y))
	}
	return true
}
