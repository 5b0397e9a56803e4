package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/dtype"
)

// predefined returns the types of which all layouts are made.
var predefined = sync.OnceValue(dtype.Predefined)

// must returns a type whose arguments are right, and panics otherwise.
func must(t *dtype.Type, err error) *dtype.Type {
	if err != nil {
		panic(err)
	}
	return t
}

// someLayout returns a random type of size bytes such that n elements of it can follow each
// other.
func someLayout(g *rand.Rand, size, n int64) *dtype.Type {
	one := predefined().Type(dtype.Byte)
	var t *dtype.Type
	switch g.IntN(6) {
	case 0: // dense
		t = must(dtype.Contiguous(size, one))
	case 1: // a column of a row-major matrix: elements interleave
		t = must(dtype.Resized(must(dtype.Vector(size, 1, n+g.Int64N(3), one)), 0, 1))
		t.Commit()
		return t
	case 2: // the last byte first
		t = must(dtype.Hvector(size, 1, -1-g.Int64N(3), one))
	case 3: // long blocks
		t = must(dtype.Contiguous(size, one))
		_, extent := t.Extent()
		t = must(dtype.Resized(t, -g.Int64N(5), extent+g.Int64N(20)))
	default: // blocks in any order with gaps
		var lens, displs []int64
		for left := size; left > 0; {
			k := 1 + g.Int64N(left)
			if len(lens) == 4 {
				k = left
			}
			lens, left = append(lens, k), left-k
		}
		displs = make([]int64, len(lens))
		at := -g.Int64N(40)
		for _, i := range g.Perm(len(lens)) {
			displs[i] = at
			at += lens[i] + g.Int64N(3)
		}
		t = must(dtype.Hindexed(lens, displs, one))
	}
	if lb, extent := t.TrueExtent(); extent > 0 && g.IntN(2) == 0 {
		extent += g.Int64N(4)
		if g.IntN(3) == 0 {
			extent = -extent
		}
		t = must(dtype.Resized(t, lb, extent))
	}
	t.Commit()
	return t
}

// laid is elements of a layout in memory of their own. They hold the bytes of flat.
type laid struct {
	flat   []byte
	typ    *dtype.Type
	count  int64
	mem    []byte
	origin int64
	image  []byte // of mem before the collective
	whole  *dtype.Buffer
}

// layOut makes elements of size bytes each for the bytes of flat.
func layOut(g *rand.Rand, flat []byte, size int) *laid {
	l := &laid{flat: flat, count: int64(len(flat) / size)}
	l.typ = someLayout(g, int64(size), max(l.count, 1))
	lb, extent := l.typ.TrueExtent()
	_, step := l.typ.Extent()
	lo, hi := lb, lb+extent
	if far := (l.count - 1) * step; far > 0 {
		hi += far
	} else {
		lo += far
	}
	l.origin = g.Int64N(9) - min(lo, 0)
	l.mem = make([]byte, l.origin+max(hi, 0)+g.Int64N(9))
	return l
}

// part returns the elements that hold bytes lo to hi of flat, in mem or a copy of mem.
func (l *laid) part(mem []byte, lo, hi int) *dtype.Buffer {
	size := int(l.typ.Size())
	_, step := l.typ.Extent()
	b, err := dtype.Bind(mem, l.origin+int64(lo/size)*step, l.typ, int64((hi-lo)/size))
	if err != nil {
		panic(err)
	}
	return &b
}

// all returns all elements.
func (l *laid) all() *dtype.Buffer {
	if l.whole == nil {
		l.whole = l.part(l.mem, 0, len(l.flat))
	}
	return l.whole
}

// load stores flat in the elements, and random bytes around them.
func (l *laid) load(g *rand.Rand) {
	fill(l.mem, g)
	l.part(l.mem, 0, len(l.flat)).Unpack(l.flat, 0)
	l.image = bytes.Clone(l.mem)
}

// verify checks that the elements hold flat, and that all other bytes of the memory are
// unchanged.
func (l *laid) verify() error {
	want := l.image
	l.part(want, 0, len(l.flat)).Unpack(l.flat, 0)
	for i := range want {
		if l.mem[i] != want[i] {
			return fmt.Errorf("byte %d of the memory of %s is %d, want %d", i, l.typ.Describe(l.count), l.mem[i], want[i])
		}
	}
	return nil
}

// offset returns where part, a part of all, begins.
func offset(all, part []byte) int { return cap(all) - cap(part) }

// layOutTypes gives the member random layouts on one side, both sides or none, at random. The
// slices of the member remain, for the serial computation.
func (t *task) layOutTypes(g *rand.Rand) {
	a := &t.args
	t.given = *a
	if a.Send != nil && a.Recv != nil && len(t.send) > 0 && &t.send[0] == &t.recv[0] { // in place
		if g.IntN(2) == 0 {
			size, scale := t.elements(g, len(t.send), offset(t.send, a.Send), len(a.Send), offset(t.recv, a.Recv), len(a.Recv))
			l := layOut(g, t.send, size)
			t.laid = []*laid{l}
			t.useSend(l, scale)
			t.useRecv(l, scale)
		}
		return
	}
	if a.Send != nil && g.IntN(2) == 0 {
		size, scale := t.elements(g, len(t.send), offset(t.send, a.Send), len(a.Send))
		l := layOut(g, t.send, size)
		t.laid = append(t.laid, l)
		t.useSend(l, scale)
	}
	if a.Recv != nil && g.IntN(2) == 0 {
		size, scale := t.elements(g, len(t.recv), offset(t.recv, a.Recv), len(a.Recv))
		l := layOut(g, t.recv, size)
		t.laid = append(t.laid, l)
		t.useRecv(l, scale)
	}
}

// elements returns a size of elements such that the given numbers of bytes, and the blocks, are
// whole elements, and the scale: how many elements replace one element of the task. The scale is
// 0 if one element replaces several of the task. Operands are combined as elements, so a
// reduction keeps its own.
func (t *task) elements(g *rand.Rand, bytes ...int) (size, scale int) {
	w := t.typ.Size()
	if t.reduces() {
		return w, 1
	}
	if t.args.SendCounts == nil && t.args.RecvCounts == nil && g.IntN(3) == 0 {
		for _, k := range []int{64, 12, 5, 2} {
			if !slices.ContainsFunc(append(bytes, t.counts[0][0]*w), func(n int) bool { return n%(k*w) != 0 }) {
				return k * w, 0
			}
		}
	}
	for _, k := range g.Perm(w) {
		if w%(k+1) == 0 {
			return w / (k + 1), k + 1
		}
	}
	panic("a number without divisors")
}

func scaled(counts []int, scale int) []int {
	if counts == nil || scale == 0 {
		return counts
	}
	list := make([]int, len(counts))
	for i, n := range counts {
		list[i] = n * scale
	}
	return list
}

func (t *task) useSend(l *laid, scale int) {
	a := &t.given
	from := offset(t.send, a.Send)
	t.from = l.part(l.mem, from, from+len(a.Send))
	a.Send, a.SendCounts, a.SendDispls = nil, scaled(a.SendCounts, scale), scaled(a.SendDispls, scale)
}

func (t *task) useRecv(l *laid, scale int) {
	a := &t.given
	to := offset(t.recv, a.Recv)
	t.to = l.part(l.mem, to, to+len(a.Recv))
	a.Recv, a.RecvCounts, a.RecvDispls = nil, scaled(a.RecvCounts, scale), scaled(a.RecvDispls, scale)
}
