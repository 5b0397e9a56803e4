package dtype

import (
	"math"
	"unsafe"
)

// Package mem does not keep a Buffer. It keeps the address of the lowest byte of data in the
// first element, the type, and a range of the packed form of an endless sequence of elements.
// That is enough, because the count of a Buffer only limits the number of repetitions. The
// address points at data so that it keeps the memory reachable for the garbage collector;
// displacement 0 may lie outside of the memory.

// Lowest is the address of the lowest byte of data in the first element of b, which has data.
func (b *Buffer) Lowest() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.bytes(b.lowest(), 1)))
}

// endless describes an endless sequence of elements of t, whose program is p, as repetitions of
// sub, stride bytes apart. off is the offset of the first repetition from the lowest byte of
// data. sub is chosen as in Buffer.repetitions.
func (t *Type) endless(p *node) (sub *node, stride, off int64) {
	extent := t.lay.extent()
	if p.kind == loop && extent == p.n*p.stride {
		return p.sub, p.stride, p.off - t.lay.trueLB
	}
	return p, extent, -t.lay.trueLB
}

// Pack fills dst with the packed form of elements of t, from byte at on. lowest is as in
// Buffer.Lowest. The caller guarantees that the elements exist.
func (t *Type) Pack(lowest unsafe.Pointer, dst []byte, at int64) { t.move(lowest, dst, at, false) }

// Unpack copies src to the places of the packed form of elements of t, from byte at on.
func (t *Type) Unpack(lowest unsafe.Pointer, src []byte, at int64) { t.move(lowest, src, at, true) }

func (t *Type) move(lowest unsafe.Pointer, packed []byte, at int64, unpack bool) {
	if len(packed) == 0 {
		return
	}
	x := transfer{lowest, unsafe.Pointer(unsafe.SliceData(packed)), unpack, t.by}
	p, to := t.program(), at+int64(len(packed))
	if to <= p.size {
		x.part(p, -t.lay.trueLB, -at, at, to)
		return
	}
	sub, stride, off := t.endless(p)
	x.repetitions(sub, stride, nil, off, -at, at, to)
}

// Slices describes at most limit bytes of the packed form of elements of t, from byte at on, by
// slices of memory, at most len(dst). It returns their number and the position after them. The
// caller guarantees that the elements exist.
func (t *Type) Slices(lowest unsafe.Pointer, dst [][]byte, at, limit int64) (n int, next int64) {
	var runs [16]Run
	sub, stride, off := t.endless(t.program())
	for n < len(dst) && limit > 0 {
		e := emitter{runs: runs[:min(len(runs), len(dst)-n)], next: at, left: limit}
		e.repetitions(sub, stride, nil, math.MaxInt64, off, at)
		for _, r := range runs[:e.n] {
			dst[n] = bytesAt(lowest, r.Off, r.Len)
			n++
		}
		at, limit = e.next, e.left
	}
	return n, at
}

// Gathers is Buffer.Gathers for elements of t that are not dense.
func (t *Type) Gathers() bool { return t.program().shortest >= gatherBlock }
