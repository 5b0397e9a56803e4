package dtype

import (
	"cmp"
	"slices"
	"sync"
)

// overlap caches whether bytes of one element of a type overlap; it is computed on
// first use.
type overlap struct {
	once sync.Once
	yes  bool
}

// enumerated is the largest number of runs that are listed and sorted to find an overlap. A
// type with more runs, for which apart proves nothing, counts as free of overlap.
const enumerated = 1 << 22

// Overlaps reports whether a byte of memory occurs twice in the buffer: it is erroneous to
// receive into such a buffer (DT-14).
func (b *Buffer) Overlaps() bool {
	return !b.dense && b.t != nil && b.t.Overlaps(b.count)
}

// Overlaps reports whether a byte of memory occurs twice in so many elements.
func (t *Type) Overlaps(count int64) bool {
	one, extent := t.program(), t.lay.extent()
	switch {
	case count == 0 || one.size == 0:
		return false
	// If elements do not interleave, bytes overlap only within an element.
	case count == 1 || int64(Magnitude(extent)) >= one.hi-one.lo:
		return t.overlaps()
	}
	return !one.apart(count, extent) && repeat(count, extent, one).overlaps()
}

func (t *Type) overlaps() bool {
	t.over.once.Do(func() { t.over.yes = t.program().overlaps() })
	return t.over.yes
}

func (n *node) overlaps() bool {
	if n.kind <= run || n.apart(1, 0) {
		return false
	}
	if n.runs > enumerated {
		return false
	}
	runs := make([]Run, 0, n.runs)
	n.each(0, func(_ *Elem, off, size int64) { runs = append(runs, Run{off, size}) })
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Off, b.Off) })
	for i := 1; i < len(runs); i++ {
		if runs[i].Off < runs[i-1].Off+runs[i-1].Len {
			return true
		}
	}
	return false
}

// apart reports whether a simple check proves that no bytes overlap in count repetitions of
// n, stride apart; false proves nothing. It does not allocate, since receivers call it. The
// loops may be nested in any order of strides (a transposed matrix): they are sorted by
// stride, and there is no overlap if each stride is at least as long as the memory that the
// loops with smaller strides cover.
func (n *node) apart(count, stride int64) bool {
	type dim struct{ n, stride int64 }
	loops := append(make([]dim, 0, 8), dim{count, int64(Magnitude(stride))})
	if count == 1 {
		loops = loops[:0]
	}
	for n.kind == loop {
		loops = append(loops, dim{n.n, int64(Magnitude(n.stride))})
		n = n.sub
	}
	if n.kind != run && !n.sorted() {
		return false
	}
	slices.SortFunc(loops, func(a, b dim) int { return cmp.Compare(a.stride, b.stride) })
	var c checked
	covered := n.hi - n.lo
	for _, l := range loops {
		if l.stride < covered {
			return false
		}
		covered = c.add(covered, c.mul(l.n-1, l.stride))
	}
	return !c.overflow
}

// sorted reports whether the parts of a node are in ascending order in memory without
// overlap between them, and apart proves each part free of overlap.
func (n *node) sorted() bool {
	switch n.kind {
	case list:
		for i := 1; i < len(n.offs); i++ {
			if n.offs[i] < n.offs[i-1]+n.sub.hi-n.sub.lo {
				return false
			}
		}
		return n.sub.kind == run || n.sub.apart(1, 0)
	case pieces:
		for i := 1; i < len(n.offs); i++ {
			if n.offs[i] < n.offs[i-1]+n.cum[i]-n.cum[i-1] {
				return false
			}
		}
		return true
	case seq:
		for i, s := range n.subs {
			if i > 0 && s.off+s.lo < n.subs[i-1].off+n.subs[i-1].hi || s.kind != run && !s.apart(1, 0) {
				return false
			}
		}
		return true
	}
	return false
}
