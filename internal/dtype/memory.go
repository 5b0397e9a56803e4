package dtype

// Memory returns the memory of the elements and the position of displacement 0 in it. The
// memory spans displacement 0 and all extents and data, clipped to the slice that Bind was
// given. It is nil if there are no elements. For a Buffer of At the memory spans only extents
// and data, because there may be no memory at displacement 0; origin may then lie outside.
func (b *Buffer) Memory() (mem []byte, origin int64) {
	if b.count == 0 || b.room == 0 && b.size == 0 {
		return nil, 0
	}
	l := &b.t.lay
	lo, hi := min(l.lb, l.trueLB), max(l.ub, l.trueUB)
	if b.room != 0 {
		lo, hi = min(0, lo), max(0, hi)
	}
	if far := (b.count - 1) * l.extent(); far >= 0 {
		hi += far
	} else {
		lo += far
	}
	switch {
	case b.room != 0:
	case b.base == nil && b.origin+lo == 0:
		return nil, 0
	default:
		return b.bytes(b.origin+lo, hi-lo), -lo
	}
	lo, hi = max(0, b.origin+lo), min(b.room, b.origin+hi)
	if lo >= hi {
		return nil, 0
	}
	return b.bytes(lo, hi-lo), b.origin - lo
}

// First returns the first n elements of b, or all if there are fewer.
func (b *Buffer) First(n int64) Buffer {
	f := *b
	if n < b.count {
		f.fill(b.base, b.t, max(n, 0)) // cannot fail: Bind or At has accepted a larger count
	}
	return f
}

// SameMemory reports whether a and b are elements of one type at one address, so that their
// packed forms agree up to the length of the shorter one.
func SameMemory(a, b *Buffer) bool {
	return a.t == b.t && a.size > 0 && b.size > 0 && a.at(a.origin) == b.at(b.origin)
}

// Shares reports whether a and b certainly share memory: both are runs of bytes that
// overlap, or both are elements of one type at one address. It does not search other
// layouts for common bytes.
func Shares(a, b *Buffer) bool {
	if a.size == 0 || b.size == 0 {
		return false
	}
	if a.dense && b.dense {
		x, y := a.at(a.lowest()), b.at(b.lowest())
		return x < y+uintptr(b.size) && y < x+uintptr(a.size)
	}
	return SameMemory(a, b)
}

// at is the address of an offset from base.
func (b *Buffer) at(off int64) uintptr { return uintptr(b.base) + uintptr(off) }

// Align is the strictest alignment of an element's parts in C, 1 for none.
func (t *Type) Align() int64 { return max(t.lay.align, 1) }

// Dense reports whether elements of t have the same bytes in memory as in packed form: from
// displacement 0 on, in order and without gaps.
func (t *Type) Dense() bool {
	p := t.program()
	return t.lay.size == 0 || p.kind == run && p.off == 0 && p.size == t.lay.extent() && t.lay.lb == 0
}
