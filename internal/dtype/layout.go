package dtype

import "math"

// layout is size and bounds of a type.
//
// The standard defines bounds by the typemap (MPI-5, 5.1.7): without markers lb
// is the least displacement, and ub the greatest end, rounded up so that the
// extent is a multiple of the strictest alignment of an element. Resized, Subarray
// and Darray put markers into the typemap. If a typemap has markers, they alone
// determine its bounds, also in types made of that type. An empty typemap has bounds 0.
type layout struct {
	size           int64
	lb, ub         int64
	trueLB, trueUB int64
	align          int64 // the strictest alignment of an element, 0 without elements
	filled         bool  // has elements
	marked         bool  // lb and ub are markers
}

func (l *layout) extent() int64 { return l.ub - l.lb }

// most is the largest count for which size, bounds and number of basic elements fit 64
// bits; one element of the type has n basic elements.
func (l *layout) most(n int64) int64 {
	room := uint64(math.MaxInt64) - max(Magnitude(l.trueLB), Magnitude(l.trueUB))
	return int64(min(math.MaxInt64/max(1, uint64(n), uint64(l.size)), room/max(1, Magnitude(l.extent()))+1))
}

// layoutOf is the layout of a basic datatype.
func layoutOf(e *Elem) layout {
	return layout{size: e.Size, ub: e.Size, trueUB: e.Size, align: e.Align, filled: true}
}

// bounds accumulates the layout of a type from blocks of other types.
type bounds struct {
	checked
	layout
	markLB, markUB int64
}

// add adds n copies of old, of which the lowest is displaced by lo and the highest by hi.
func (b *bounds) add(old *layout, n, lo, hi int64) {
	if n == 0 {
		return
	}
	b.size = b.checked.add(b.size, b.mul(n, old.size))
	if old.filled {
		l, u := b.checked.add(lo, old.trueLB), b.checked.add(hi, old.trueUB)
		if !b.filled {
			b.trueLB, b.trueUB, b.filled = l, u, true
		}
		b.trueLB, b.trueUB = min(b.trueLB, l), max(b.trueUB, u)
		b.align = max(b.align, old.align)
	}
	if old.marked {
		l, u := b.checked.add(lo, old.lb), b.checked.add(hi, old.ub)
		if !b.marked {
			b.markLB, b.markUB, b.marked = l, u, true
		}
		b.markLB, b.markUB = min(b.markLB, l), max(b.markUB, u)
	}
}

// grid adds outer x inner copies of old, spaced by the two strides, from disp on.
func (b *bounds) grid(old *layout, disp, outer, outerStride, inner, innerStride int64) {
	if outer == 0 || inner == 0 {
		return
	}
	lo, hi := disp, disp
	for _, step := range [...]int64{b.mul(outer-1, outerStride), b.mul(inner-1, innerStride)} {
		if step < 0 {
			lo = b.checked.add(lo, step)
		} else {
			hi = b.checked.add(hi, step)
		}
	}
	b.add(old, b.mul(outer, inner), lo, hi)
}

// mark sets explicit bounds.
func (b *bounds) mark(lb, ub int64) {
	b.markLB, b.markUB, b.marked = lb, ub, true
}

// done returns the accumulated layout, or an error if anything has overflowed.
func (b *bounds) done(what Combiner) (layout, error) {
	l := b.layout
	switch {
	case b.marked:
		l.lb, l.ub = b.markLB, b.markUB
	case b.filled:
		l.lb, l.ub = l.trueLB, l.trueUB
		extent := b.sub(l.ub, l.lb)
		if r := extent % l.align; r > 0 {
			l.ub = b.checked.add(l.ub, l.align-r)
		}
	}
	// math.MinInt64 counts as overflow: its absolute value exceeds math.MaxInt64, and most
	// and others rely on bounds whose absolute value does not.
	b.overflow = b.overflow || l.lb == math.MinInt64 || l.trueLB == math.MinInt64
	b.sub(l.ub, l.lb)
	b.sub(l.trueUB, l.trueLB)
	return l, b.err(what.String())
}
