package dtype

import (
	"math"
	"unsafe"
)

// Package mem keeps no Buffer, but the address of the lowest byte of data in the first
// element, the type, and a range of the packed form of elements that follow one another
// without end. That is enough: what a Buffer finds out from its count is only how many
// repetitions there are at most. The address is that of data, and so it keeps the memory
// reachable; displacement 0 may lie outside of the memory.

// Lowest is the address of the lowest byte of data in the first element of b, which has data.
func (b *Buffer) Lowest() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.bytes(b.lowest(), 1)))
}

// endless is elements of t, whose program is p, without end as repetitions of a node, stride
// apart and from off on, which is relative to the lowest byte of data. The outermost loop is one
// with the elements where strides allow, as in a Buffer.
func (t *Type) endless(p *node) (sub *node, stride, off int64) {
	extent := t.lay.extent()
	if p.kind == loop && extent == p.n*p.stride {
		return p.sub, p.stride, p.off - t.lay.trueLB
	}
	return p, extent, -t.lay.trueLB
}

// Pack copies the packed form of elements of t, from byte at on, to dst. lowest is as in
// Buffer.Lowest. The caller answers for the elements being there.
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
// slices of memory, as many as dst has room for; it returns their number and the position behind
// them. The caller answers for the elements being there.
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

// Gathers is Buffer.Gathers for elements of t between which there are gaps.
func (t *Type) Gathers() bool { return t.program().shortest >= gatherBlock }
