package histories_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/dtype/dtypetest"
)

// A pair is the two sides of a message: different layouts of one sequence of basic types. One
// layout is random, and the other is made from its sequence.
type pair struct {
	main  *dtypetest.Spec
	count int64
	sends bool   // main is the sender's, else the receiver's
	other uint64 // seed of the other layout; 0 is the simplest layout
	least int    // minimum number of elements in a block of it
	slice bool   // the other layout is a slice of numbers, if all have one type
	room  int64  // how many elements more, or less, than the message the receiver has room for
}

const (
	// pairEntries is a bound for typemaps, since the oracle goes through their entries one by
	// one.
	pairEntries = 4000
	// pairSpan is a bound, in bytes, for the memory that a layout spans.
	pairSpan = 4 << 20
)

// newPair makes a random pair with about size bytes of data.
func newPair(r *rand.Rand, size int64) *pair {
	p := &pair{sends: r.IntN(2) == 0, slice: r.IntN(4) == 0, other: r.Uint64() | 1}
	if r.IntN(4) == 0 {
		p.other = 0
	}
	g := dtypetest.Generator{}
	switch r.IntN(4) {
	case 0:
		g.Basics = []dtype.ID{dtype.Byte, dtype.Uint8} // any length in bytes
	case 1:
		all := dtypetest.AllSizes()
		g.Basics = all[r.IntN(len(all)):][:1]
	}
	depth := r.IntN(7)
	switch {
	case size >= 40<<10 && r.IntN(2) == 0: // blocks of pages, which are sent without copying
		big := []dtype.ID{dtype.Double, dtype.LongDouble, dtype.Complex32}[r.IntN(3):][:1]
		n := (4 << 10) / types.Type(big[0]).Size()
		g = dtypetest.Generator{Basics: big, Wide: 2 * n, Least: n}
		p.least, depth = int(n), r.IntN(3)
	case size > 4<<10 || r.IntN(8) == 0:
		g.Wide = []int64{1, 12, 100, 300}[r.IntN(4)]
		if r.IntN(2) == 0 {
			g.Least, p.least = min(g.Wide, 64), 64
		}
	}
	for range 20 { // few random types have the desired size
		p.main = g.Spec(r, depth)
		m := p.main.Typemap(types, pairEntries)
		if m == nil || m.Size() == 0 {
			continue
		}
		p.count = size / m.Size()
		if p.count > 0 {
			p.count += int64(r.IntN(3)) - 1
		} else {
			p.count = int64(r.IntN(4))
			if size < m.Size()/8 {
				continue
			}
		}
		if _, _, ok := p.halves(); ok {
			break
		}
	}
	if r.IntN(4) == 0 {
		p.room = int64(r.IntN(6)) - 3
	} else if r.IntN(20) == 0 {
		p.room = -r.Int64N(p.count + 1)
	}
	return p
}

// types are all predefined types.
var types = dtype.Predefined()

// half is one side of a pair, as a layout.
type half struct {
	spec  *dtypetest.Spec
	count int64
	id    dtype.ID // of a slice, 0 for a layout
	m     *dtypetest.Typemap
}

func (h *half) String() string {
	if h.id != 0 {
		return fmt.Sprintf("a slice of %d %s", h.count, types.Type(h.id))
	}
	return fmt.Sprintf("%d x %v", h.count, h.spec)
}

// halves makes both sides. ok is false for pairs that a program cannot use, since the receiver's
// layout overlaps, and for those too large for the oracle.
func (p *pair) halves() (send, recv half, ok bool) {
	m := p.main.Typemap(types, pairEntries)
	if m == nil {
		return send, recv, false
	}
	mine := half{spec: p.main, count: p.count, m: m}
	other := p.counterpart(m)
	if other.m == nil {
		return send, recv, false
	}
	send, recv = other, mine
	if p.sends {
		send, recv = mine, other
	}
	recv.count = max(0, recv.count+p.room)
	if max(send.span(), recv.span()) > pairSpan || recv.overlaps() {
		return send, recv, false
	}
	return send, recv, true
}

// counterpart makes another layout for the data of p.count elements of m.
func (p *pair) counterpart(m *dtypetest.Typemap) half {
	seq := m.Elems()
	if len(seq) == 0 {
		return half{spec: dtypetest.Regroup(nil, types, nil, 0), count: p.count, m: &dtypetest.Typemap{}}
	}
	uniform := true
	for _, e := range seq {
		uniform = uniform && e == seq[0]
	}
	if uniform && p.slice && sliceable(seq[0]) {
		s := dtypetest.Named(seq[0].ID)
		return half{spec: s, count: p.count * int64(len(seq)), id: seq[0].ID, m: s.Typemap(types, 1)}
	}
	var r *rand.Rand
	k := int64(1)
	if p.other != 0 {
		r = rand.New(rand.NewPCG(p.other, 1))
		for d := int64(2); d <= p.count && d*int64(len(seq)) <= pairEntries; d++ {
			if p.count%d == 0 && r.IntN(2) == 0 {
				k = d
			}
		}
	}
	var all []*dtype.Elem
	for range k {
		all = append(all, seq...)
	}
	s := dtypetest.Regroup(r, types, all, p.least)
	return half{spec: s, count: p.count / k, m: s.Typemap(types, 1<<20)}
}

// bounds are the bounds in bytes of all elements.
func (h *half) bounds() (lo, hi int64) {
	lo, hi = h.m.TrueBounds()
	if far := (h.count - 1) * h.m.Extent(); h.count == 0 || lo == hi {
		return 0, 0
	} else if far > 0 {
		hi += far
	} else {
		lo += far
	}
	return lo, hi
}

func (h *half) span() int64 {
	lo, hi := h.bounds()
	return max(hi, 0) - min(lo, 0) // including displacement 0
}

// overlaps reports whether a byte occurs twice.
func (h *half) overlaps() bool {
	lo, hi := h.bounds()
	seen, ex := make([]bool, hi-lo), h.m.Extent()
	for i := range h.count {
		for _, e := range h.m.Entries {
			for b := range e.Elem.Size {
				at := i*ex + e.Off + b - lo
				if seen[at] {
					return true
				}
				seen[at] = true
			}
		}
	}
	return false
}

// packed returns the data in mem, where displacement 0 is at origin.
func (h *half) packed(mem []byte, origin int64) []byte {
	out, ex := make([]byte, 0, h.count*h.m.Size()), h.m.Extent()
	for i := range h.count {
		out = append(out, h.m.Packed(mem, origin+i*ex)...)
	}
	return out
}

// unpack stores data in mem, as much as there is room for.
func (h *half) unpack(mem []byte, origin int64, data []byte) {
	size, ex := h.m.Size(), h.m.Extent()
	for i := range h.count {
		n := min(size, int64(len(data)))
		h.m.Unpack(mem, origin+i*ex, data[:n])
		data = data[n:]
	}
}

// smaller are pairs that are one step simpler.
func (p *pair) smaller() (out []*pair) {
	with := func(change func(*pair)) {
		c := *p
		change(&c)
		if c != *p {
			out = append(out, &c)
		}
	}
	with(func(c *pair) { c.room = 0 })
	with(func(c *pair) { c.slice = false })
	with(func(c *pair) { c.other = 0 })
	for _, n := range []int64{0, 1, p.count / 2, p.count - 1} {
		with(func(c *pair) { c.count = max(0, min(n, p.count)) })
	}
	// The failure may be caused by the other layout: that becomes the main one.
	if m := p.main.Typemap(types, pairEntries); m != nil && p.other != 0 {
		if o := p.counterpart(m); o.m != nil && len(o.m.Entries) <= pairEntries {
			with(func(c *pair) { c.main, c.count, c.sends, c.other = o.spec, o.count, !p.sends, 0 })
		}
	}
	for _, s := range p.main.Smaller() {
		with(func(c *pair) { c.main = s })
	}
	return out
}
