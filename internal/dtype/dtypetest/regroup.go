package dtypetest

import (
	"math/rand/v2"

	"github.com/halo-mpi/halo/internal/dtype"
)

// Regroup makes a layout whose typemap has the basic types of seq in that order, for the
// other side of a message. No bytes overlap, not even those of consecutive elements, but
// there may be gaps, and the order in memory may be any. The basic types must be
// predefined ones. No block in memory is shorter than least elements, unless seq is. If r
// is nil the layout is the dense sequence.
//
// A periodic sequence may become repetitions of the layout of a part of it, by any
// constructor that repeats; other sequences are cut into the members of a struct.
func Regroup(r *rand.Rand, set *dtype.Set, seq []*dtype.Elem, least int) *Spec {
	if r == nil {
		return dense(seq)
	}
	g := regrouper{r, set, max(least, 1)}
	s, _ := g.group(seq)
	return s
}

// dense returns a layout of a sequence without gaps.
func dense(seq []*dtype.Elem) *Spec {
	switch p := period(seq); {
	case len(seq) == 0:
		return Contiguous(0, Named(dtype.Byte))
	case p == 1:
		return Contiguous(int64(len(seq)), Named(seq[0].ID))
	case p < len(seq):
		return Contiguous(int64(len(seq)/p), dense(seq[:p]))
	}
	s := &Spec{Combiner: dtype.CombinerStruct}
	at := int64(0)
	var lengths []int64
	for i, e := range seq {
		if i > 0 && seq[i-1] == e {
			lengths[len(lengths)-1]++
		} else {
			lengths, s.Addrs, s.Kids = append(lengths, 1), append(s.Addrs, at), append(s.Kids, Named(e.ID))
		}
		at += e.Size
	}
	s.Ints = counted(lengths)
	return Resized(s, 0, at)
}

// period returns the length of the shortest sequence whose repetitions are seq, 0 if seq is
// empty.
func period(seq []*dtype.Elem) int {
	// back[i] is the length of the longest proper prefix of seq that is also a suffix of
	// seq[:i+1], as in the search by Knuth, Morris and Pratt.
	back := make([]int, len(seq))
	for i, k := 1, 0; i < len(seq); i++ {
		for k > 0 && seq[i] != seq[k] {
			k = back[k-1]
		}
		if seq[i] == seq[k] {
			k++
		}
		back[i] = k
	}
	n := len(seq)
	if n == 0 {
		return 0
	}
	if p := n - back[n-1]; n%p == 0 {
		return p
	}
	return n
}

type regrouper struct {
	r     *rand.Rand
	set   *dtype.Set
	least int
}

func (g *regrouper) between(lo, hi int) int64 { return int64(lo + g.r.IntN(hi-lo+1)) }

// group returns a layout of seq and its typemap. The bounds of the layout enclose its data.
func (g *regrouper) group(seq []*dtype.Elem) (*Spec, *Typemap) {
	var s *Spec
	p := period(seq)
	switch {
	case len(seq) == 1:
		s = Named(seq[0].ID)
	case len(seq) < 2*g.least:
		s = dense(seq)
	case p < len(seq) && g.r.IntN(4) > 0:
		n := int64(len(seq) / p)
		k := g.divisor(n)
		if k == n && g.r.IntN(4) > 0 {
			k = 1
		}
		for n%k != 0 || p*int(k) < g.least {
			k++
		}
		kid, m := g.group(seq[:p*int(k)])
		s = g.repeat(n/k, kid, m)
	default:
		s = g.cut(seq)
	}
	m := g.typemap(s)
	lb, ub := m.Bounds()
	tlb, tub := m.TrueBounds()
	gaps := g.r.IntN(8) == 0
	if g.least > 1 { // few other steps make gaps then
		gaps = g.r.IntN(2) == 0
	}
	if lb > tlb || ub < tub || gaps {
		lb = tlb - g.between(0, 20)
		s = Resized(s, lb, tub+g.between(0, 20)-lb)
		m = g.typemap(s)
	}
	if g.r.IntN(20) == 0 {
		s = &Spec{Combiner: dtype.CombinerDup, Kids: []*Spec{s}}
	}
	return s, m
}

func (g *regrouper) typemap(s *Spec) *Typemap { return s.Typemap(g.set, 1<<62) }

// divisor returns a random divisor of n.
func (g *regrouper) divisor(n int64) int64 {
	var all []int64
	for k := int64(1); k*k <= n; k++ {
		if n%k == 0 {
			all = append(all, k, n/k)
		}
	}
	return all[g.r.IntN(len(all))]
}

// cut makes a struct of parts of seq, in any order in memory.
func (g *regrouper) cut(seq []*dtype.Elem) *Spec {
	var parts [][]*dtype.Elem
	for most := 2 + g.r.IntN(4); len(parts) < most-1 && len(seq) >= 2*g.least; {
		k := g.least + g.r.IntN(len(seq)-2*g.least+1)
		parts, seq = append(parts, seq[:k]), seq[k:]
	}
	parts = append(parts, seq)
	s := &Spec{Combiner: dtype.CombinerStruct, Addrs: make([]int64, len(parts))}
	lengths := make([]int64, len(parts))
	maps := make([]*Typemap, len(parts))
	for i, p := range parts {
		lengths[i] = 1
		if n := period(p); n < len(p) && n >= g.least && g.r.IntN(3) > 0 { // a block length above 1
			lengths[i] = int64(len(p) / n)
			p = p[:n]
		}
		var kid *Spec
		kid, maps[i] = g.group(p)
		s.Kids = append(s.Kids, kid)
	}
	at := g.between(-30, 30)
	for _, i := range g.order(len(parts)) {
		lb, _ := maps[i].Bounds()
		s.Addrs[i] = at - lb
		at += lengths[i]*maps[i].Extent() + g.gap(24)
	}
	s.Ints = counted(lengths)
	return s
}

// order returns an order of n parts in memory, usually the order of the sequence.
func (g *regrouper) order(n int) []int {
	if g.r.IntN(3) == 0 {
		return g.r.Perm(n)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// gap returns the length of a gap, which is often 0.
func (g *regrouper) gap(most int) int64 { return g.between(0, most) * g.between(0, 1) }

// repeat makes n repetitions of kid by any constructor.
func (g *regrouper) repeat(n int64, kid *Spec, m *Typemap) *Spec {
	ex := m.Extent()
	s := &Spec{Kids: []*Spec{kid}}
	block := g.divisor(n)
	blocks := n / block
	switch g.r.IntN(10) {
	case 0:
		return Contiguous(n, kid)
	case 1:
		s.Combiner = dtype.CombinerVector
		s.Ints = []int64{blocks, block, g.sign() * (block + g.gap(5))}
	case 2:
		s.Combiner = dtype.CombinerHvector
		s.Ints, s.Addrs = []int64{blocks, block}, []int64{g.sign() * (block*ex + g.gap(100))}
	case 3:
		s.Combiner = dtype.CombinerIndexed
		lengths := g.lengths(n)
		s.Ints = counted(lengths, g.displs(lengths, 1, 5))
	case 4:
		s.Combiner = dtype.CombinerHindexed
		lengths := g.lengths(n)
		s.Ints, s.Addrs = counted(lengths), g.displs(lengths, ex, 60)
	case 5:
		s.Combiner = dtype.CombinerIndexedBlock
		s.Ints = append([]int64{blocks, block}, g.displs(same(blocks, block), 1, 5)...)
	case 6:
		s.Combiner = dtype.CombinerHindexedBlock
		s.Ints, s.Addrs = []int64{blocks, block}, g.displs(same(blocks, block), ex, 60)
	case 7, 8:
		s.Combiner = dtype.CombinerSubarray
		s.Ints = g.subarray(n)
	default:
		s.Combiner = dtype.CombinerDarray
		s.Ints = g.darray(n, block)
	}
	return s
}

func (g *regrouper) sign() int64 { return 1 - 2*g.between(0, 1) }

func same(n, v int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// lengths splits n into at most 40 lengths, some of which may be 0.
func (g *regrouper) lengths(n int64) []int64 {
	var all []int64
	for n > 0 && len(all) < 39 {
		k := g.between(0, int(min(n, 1+n/4)))
		all, n = append(all, k), n-k
	}
	return append(all, n)
}

// displs returns displacements at which blocks of lengths times unit do not overlap, with gaps.
func (g *regrouper) displs(lengths []int64, unit int64, gap int) []int64 {
	out := make([]int64, len(lengths))
	at := g.between(-10, 10)
	for _, i := range g.order(len(lengths)) {
		out[i] = at
		at += lengths[i]*unit + g.gap(gap)
	}
	return out
}

// subarray returns the integer arguments of a subarray of n elements.
func (g *regrouper) subarray(n int64) []int64 {
	var sizes, subs, starts []int64
	for d := 0; d < 2 && n > 1; d++ {
		k := g.divisor(n)
		subs, n = append(subs, k), n/k
	}
	for _, k := range append(subs, n) {
		starts = append(starts, g.gap(3))
		sizes = append(sizes, starts[len(starts)-1]+k+g.gap(3))
	}
	subs = append(subs, n)
	return append(counted(sizes, subs, starts), int64(order(g.r)))
}

// darray returns the integer arguments of a darray with n elements for each of several
// processes, which are distributed in one block or in several blocks of length block.
func (g *regrouper) darray(n, block int64) []int64 {
	procs := g.between(1, 3)
	kind, arg := dtype.DistributeCyclic, block
	if g.r.IntN(2) == 0 {
		kind, arg = dtype.DistributeBlock, dtype.DistributeDefault
	}
	return darray(procs, g.between(0, int(procs-1)), []int64{n * procs}, []int64{int64(kind)}, []int64{arg}, []int64{procs}, order(g.r))
}
