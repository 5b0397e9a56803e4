package topology

import (
	"cmp"
	"math"
	"slices"
)

// order collects the positions of a grid in the order in which they are filled.
type order struct {
	grid      *Grid
	positions []int32
	lo, n     []int // the current box: its first coordinates and its lengths
	strides   []int
}

// start makes the whole grid the current box.
func (o *order) start() {
	o.n = append(o.n[:0], o.grid.Dims...)
	o.lo = append(o.lo[:0], make([]int, len(o.n))...)
	o.strides = append(o.strides[:0], o.n...)
	stride := 1
	for i := len(o.n) - 1; i >= 0; i-- {
		o.strides[i] = stride
		stride *= o.n[i]
	}
}

// size is the number of positions of the current box.
func (o *order) size() int {
	n := 1
	for _, d := range o.n {
		n *= d
	}
	return n
}

// longest is the dimension in which the current box is longest, the first of several.
func (o *order) longest() int {
	best := 0
	for i, d := range o.n {
		if d > o.n[best] {
			best = i
		}
	}
	return best
}

// both calls f for the first k layers of the current box in a dimension, and for the others.
func (o *order) both(dim, k int, f func()) {
	lo, n := o.lo[dim], o.n[dim]
	o.n[dim] = k
	f()
	o.lo[dim], o.n[dim] = lo+k, n-k
	f()
	o.lo[dim], o.n[dim] = lo, n
}

// rows adds the positions of the current box in the order of dims, of which the last one varies
// fastest.
func (o *order) rows(dims []int) {
	at := 0
	for i, c := range o.lo {
		at += c * o.strides[i]
	}
	o.row(dims, at)
}

func (o *order) row(dims []int, at int) {
	if len(dims) == 0 {
		o.positions = append(o.positions, int32(at))
		return
	}
	stride := o.strides[dims[0]]
	for range o.n[dims[0]] {
		if len(dims) == 1 {
			o.positions = append(o.positions, int32(at))
		} else {
			o.row(dims[1:], at)
		}
		at += stride
	}
}

// byLength are the dimensions of the current box, the longest first.
func (o *order) byLength() []int {
	dims := make([]int, len(o.n))
	for i := range dims {
		dims[i] = i
	}
	slices.SortStableFunc(dims, func(a, b int) int { return cmp.Compare(o.n[b], o.n[a]) })
	return dims
}

// rows fills the grid row by row, the longest dimension slowest.
func rows(o *order, _ *hosts) {
	o.start()
	o.rows(o.byLength())
}

// kdTree halves the box in its longest dimension again and again.
func kdTree(o *order, _ *hosts) {
	o.start()
	var halve func()
	halve = func() {
		dim := o.longest()
		if len(o.n) == 0 || o.n[dim] == 1 {
			o.rows(nil)
			return
		}
		o.both(dim, o.n[dim]/2, halve)
	}
	halve()
}

// hyperplanes cuts the box by planes between two hosts, as near to its middle as can be and in its
// longest dimension that has such a plane. A box without one is filled by rows along its longest
// dimension.
func hyperplanes(o *order, h *hosts) { cutBetween(o, h.ends) }

// evenHyperplanes is hyperplanes as if all hosts had the same number of processes: where they do
// not there often is no plane between two of them.
func evenHyperplanes(o *order, h *hosts) {
	ends := make([]bool, len(h.ends))
	size := (len(h.ends) - 1) / len(h.size)
	for end := size; end < len(ends); end += size {
		ends[end] = true
	}
	cutBetween(o, ends)
}

func cutBetween(o *order, ends []bool) {
	o.start()
	var cut func()
	cut = func() {
		from, size := len(o.positions), o.size()
		dims := o.byLength()
		if slices.Contains(ends[from+1:from+size], true) {
			for _, dim := range dims {
				n := o.n[dim]
				plane := size / n
				for off := range (n + 1) / 2 {
					for _, k := range [...]int{n/2 - off, (n+1)/2 + off} {
						if k > 0 && k < n && ends[from+k*plane] {
							o.both(dim, k, cut)
							return
						}
					}
				}
			}
		}
		o.rows(dims)
	}
	cut()
}

// strips cuts the grid into strips along its longest dimension, about as wide in the others as a
// cube of the processes of a host. One strip is filled after the other, layer by layer, every
// second one backwards.
func strips(o *order, h *hosts) {
	stripsOf(o, len(h.size), func(length int, width float64) int { return int(math.Round(float64(length) / width)) })
}

// wideStrips is strips that are at least as wide, in whole positions.
func wideStrips(o *order, h *hosts) {
	stripsOf(o, len(h.size), func(length int, width float64) int { return length / max(1, int(width)) })
}

// stripsOf cuts each other dimension into as many parts as it is told for the length of the
// dimension and the width of the cube.
func stripsOf(o *order, hosts int, parts func(length int, width float64) int) {
	o.start()
	if len(o.n) == 0 {
		o.rows(nil)
		return
	}
	dims := o.byLength()
	across := dims[1:]
	width := math.Pow(float64(o.size()/hosts), 1/float64(len(dims)))
	back := false
	var next func(k int, reverse bool)
	strip := func() {
		from := len(o.positions)
		o.rows(dims)
		if back {
			slices.Reverse(o.positions[from:])
		}
		back = !back
	}
	// next cuts the grid in the dimension across[k]; strips are neighbours of the ones before.
	next = func(k int, reverse bool) {
		if k == len(across) {
			strip()
			return
		}
		dim := across[k]
		d := o.n[dim]
		n := max(1, parts(d, width))
		for i := range n {
			if reverse {
				i = n - 1 - i
			}
			o.lo[dim], o.n[dim] = i*d/n, (i+1)*d/n-i*d/n
			next(k+1, (i%2 == 1) != reverse)
		}
		o.lo[dim], o.n[dim] = 0, d
	}
	next(0, false)
}

// bricks cuts the grid into equal boxes of as many positions as each host has processes, of those
// that divide it the ones with the fewest edges between each other. It adds nothing if there are
// none, or hosts differ in size.
func bricks(o *order, h *hosts) {
	o.start()
	size := h.size[0]
	for _, s := range h.size {
		if s != size {
			return
		}
	}
	var best, brick []int
	least := math.MaxInt
	all := o.size()
	var choose func(dim, left, edges int)
	choose = func(dim, left, edges int) {
		switch {
		case edges >= least:
		case dim == len(o.n) && left == 1:
			best, least = slices.Clone(brick), edges
		case dim < len(o.n):
			d := o.n[dim]
			for b := 1; b <= min(d, left); b++ {
				if d%b != 0 || left%b != 0 {
					continue
				}
				planes := d/b - 1
				if o.grid.Periods[dim] && planes > 0 {
					planes++
				}
				brick = append(brick, b)
				choose(dim+1, left/b, edges+planes*(all/d))
				brick = brick[:len(brick)-1]
			}
		}
	}
	choose(0, size, 0)
	if best == nil {
		return
	}
	dims := make([]int, len(o.n))
	for i := range dims {
		dims[i] = i
	}
	var next func(dim int)
	next = func(dim int) {
		if dim == len(o.n) {
			o.rows(dims)
			return
		}
		d := o.n[dim]
		o.n[dim] = best[dim]
		for o.lo[dim] = 0; o.lo[dim] < d; o.lo[dim] += best[dim] {
			next(dim + 1)
		}
		o.lo[dim], o.n[dim] = 0, d
	}
	next(0)
}
