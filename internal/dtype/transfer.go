package dtype

import (
	"sort"
	"unsafe"
)

// transfer runs a loop program: it copies between memory in the layout of a type
// and its packed form. Positions are offsets from the bases mem and packed: see strides.
// packedOff is the offset of byte 0 of a node's packed form; it is negative if the packed
// bytes begin within the node.
//
// A range of a node's packed form consists, at each level, of at most two partial subs
// with whole subs between them. Therefore the position is the only state between calls,
// and no stack is kept.
type transfer struct {
	mem, packed unsafe.Pointer
	unpack      bool
	by          mover
}

const (
	// tileBytes is the amount of memory in which structs are copied field by field before
	// the next tile: with the packed form, half of the smallest first-level cache.
	tileBytes = 16 << 10
	// Structs with at most columnRuns fields of at most columnSize bytes on average are copied
	// field by field; more or longer fields gain nothing.
	columnRuns = 32
	columnSize = 128
	// shortLoop is the trip count below which an inner loop costs more to start than copying
	// field by field.
	shortLoop = 12
)

// strided copies n runs of size bytes, stride apart in memory and step apart in packed form.
func (t *transfer) strided(off, stride, packedOff, step, n, size int64) {
	s := strides{n: int(n), by: t.by}
	if t.unpack {
		s.dst, s.dstOff, s.dstStep = t.mem, int(off), int(stride)
		s.src, s.srcOff, s.srcStep = t.packed, int(packedOff), int(step)
	} else {
		s.dst, s.dstOff, s.dstStep = t.packed, int(packedOff), int(step)
		s.src, s.srcOff, s.srcStep = t.mem, int(off), int(stride)
	}
	s.copy(int(size))
}

// run copies one run of bytes.
//
//go:nocheckptr
func (t *transfer) run(off, packedOff, size int64) {
	d, s := unsafe.Add(t.packed, packedOff), unsafe.Add(t.mem, off)
	if t.unpack {
		d, s = s, d
	}
	if size == 8 {
		*(*uint64)(d) = *(*uint64)(s)
		return
	}
	t.by.run(d, s, int(size))
}

// whole copies all of a node.
func (t *transfer) whole(n *node, off, packedOff int64) {
	off += n.off
	switch n.kind {
	case run:
		t.run(off, packedOff, n.size)
	case loop:
		t.loop(n.sub, n.stride, off, packedOff, n.n)
	case list:
		t.list(n.sub, n.offs, off, packedOff)
	case pieces:
		for i, o := range n.offs {
			t.run(off+o, packedOff+n.cum[i], n.cum[i+1]-n.cum[i])
		}
	case seq:
		for i, s := range n.subs {
			t.whole(s, off, packedOff+n.cum[i])
		}
	}
}

// loop copies count repetitions of sub.
func (t *transfer) loop(sub *node, stride, off, packedOff, count int64) {
	off += sub.off // sub.off is 0 except for the outermost node of a Buffer
	if sub.kind == run {
		t.strided(off, stride, packedOff, sub.size, count, sub.size)
		return
	}
	if sub.columnar(count) {
		rows := max(tileBytes/max(Magnitude(stride), uint64(sub.size), 1), 8)
		for count > 0 {
			k := min(count, int64(rows))
			t.columns(sub, stride, off, packedOff, k)
			off += k * stride
			packedOff += k * sub.size
			count -= k
		}
		return
	}
	if sub.kind == loop && sub.sub.kind == run {
		for range count {
			t.strided(off, sub.stride, packedOff, sub.sub.size, sub.n, sub.sub.size)
			off += stride
			packedOff += sub.size
		}
		return
	}
	off -= sub.off
	for range count {
		t.whole(sub, off, packedOff)
		off += stride
		packedOff += sub.size
	}
}

// columnar reports whether count repetitions of n are copied field by field: each run of n
// by one strided copy over many repetitions.
func (n *node) columnar(count int64) bool {
	if n.runs > columnRuns || n.size > columnSize*n.runs || count < 4 {
		return false
	}
	switch n.kind {
	case pieces:
		return true
	case list:
		return n.sub.kind == run
	case loop:
		return n.sub.kind == run && n.n < shortLoop && n.n < count
	}
	return false
}

// columns copies rows repetitions of n, which must be columnar, field by field.
func (t *transfer) columns(n *node, stride, off, packedOff, rows int64) {
	switch n.kind {
	case pieces:
		for i, o := range n.offs {
			t.strided(off+o, stride, packedOff+n.cum[i], n.size, rows, n.cum[i+1]-n.cum[i])
		}
	case list:
		for i, o := range n.offs {
			t.strided(off+o, stride, packedOff+int64(i)*n.sub.size, n.size, rows, n.sub.size)
		}
	case loop:
		for i := range n.n {
			t.strided(off+i*n.stride, stride, packedOff+i*n.sub.size, n.size, rows, n.sub.size)
		}
	}
}

// list copies sub at each of offs.
func (t *transfer) list(sub *node, offs []int64, off, packedOff int64) {
	switch {
	case sub.kind != run:
		for _, o := range offs {
			t.whole(sub, off+o, packedOff)
			packedOff += sub.size
		}
	case sub.size == 8:
		copyList[uint64](t, offs, off, packedOff)
	case sub.size == 4:
		copyList[uint32](t, offs, off, packedOff)
	case sub.size == 16:
		copyList[block16](t, offs, off, packedOff)
	case sub.size == 32:
		copyList[block32](t, offs, off, packedOff)
	case sub.size == 64:
		copyList[block64](t, offs, off, packedOff)
	default:
		for _, o := range offs {
			t.run(off+o, packedOff, sub.size)
			packedOff += sub.size
		}
	}
}

// copyList copies a T at each of offs.
//
//go:nocheckptr
func copyList[T any](t *transfer, offs []int64, off, packedOff int64) {
	var v T
	mem, packed, p := t.mem, t.packed, packedOff
	if t.unpack {
		for _, o := range offs {
			*(*T)(unsafe.Add(mem, off+o)) = *(*T)(unsafe.Add(packed, p))
			p += int64(unsafe.Sizeof(v))
		}
		return
	}
	for _, o := range offs {
		*(*T)(unsafe.Add(packed, p)) = *(*T)(unsafe.Add(mem, off+o))
		p += int64(unsafe.Sizeof(v))
	}
}

// part copies the bytes [from, to) of a node's packed form; from must be less than to.
func (t *transfer) part(n *node, off, packedOff, from, to int64) {
	if from == 0 && to == n.size {
		t.whole(n, off, packedOff)
		return
	}
	off += n.off
	switch n.kind {
	case run:
		t.run(off+from, packedOff+from, to-from)
	case loop, list:
		t.repetitions(n.sub, n.stride, n.offs, off, packedOff, from, to)
	case pieces:
		for i := n.index(from); i < len(n.offs) && n.cum[i] < to; i++ {
			lo, hi := max(from, n.cum[i]), min(to, n.cum[i+1])
			t.run(off+n.offs[i]+lo-n.cum[i], packedOff+lo, hi-lo)
		}
	case seq:
		for i := n.index(from); i < len(n.subs) && n.cum[i] < to; i++ {
			lo, hi := max(from, n.cum[i]), min(to, n.cum[i+1])
			t.part(n.subs[i], off, packedOff+n.cum[i], lo-n.cum[i], hi-n.cum[i])
		}
	}
}

// repetitions copies the bytes [from, to) of the packed form of a loop or list.
func (t *transfer) repetitions(sub *node, stride int64, offs []int64, off, packedOff, from, to int64) {
	s := sub.size
	i, k := from/s, to/s
	if r := from - i*s; r > 0 {
		t.part(sub, off+offset(stride, offs, i), packedOff+i*s, r, min(to-i*s, s))
		i++
	}
	if k > i {
		if offs == nil {
			t.loop(sub, stride, off+i*stride, packedOff+i*s, k-i)
		} else {
			t.list(sub, offs[i:k], off, packedOff+i*s)
		}
		i = k
	}
	if i*s < to {
		t.part(sub, off+offset(stride, offs, i), packedOff+i*s, 0, to-i*s)
	}
}

// offset is the offset of the i-th repetition in a list, or in a loop, which has no offs.
func offset(stride int64, offs []int64, i int64) int64 {
	if offs == nil {
		return i * stride
	}
	return offs[i]
}

// index is the index of the entry of a pieces or seq node that holds byte at.
func (n *node) index(at int64) int {
	return sort.Search(len(n.cum)-1, func(i int) bool { return n.cum[i+1] > at })
}
