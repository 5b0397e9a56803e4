package dtype

// node is a loop program: what compile makes of a type. Displacements are in
// bytes, relative to the node's own off, and that to the node around it.
//
//	run     size bytes
//	loop    n times sub, stride apart
//	list    sub at each of offs
//	pieces  runs at offs, the i-th being bytes cum[i] to cum[i+1] of the packed form
//	seq     each of subs, with cum as in pieces
//
// Kinds are chosen so that a position in the packed form is found by a division or
// a binary search in each level. The sub of a loop or list has off 0, and the
// rules below keep programs small: repetitions that touch merge into runs, loops
// of loops with fitting strides into one loop, equal runs at equal distances into
// loops. Nodes are shared and never change.
//
// With elements (elem set in every run) the same program drives conversion; then
// only runs of one basic datatype merge.
type node struct {
	kind   kind
	off    int64
	size   int64 // packed bytes
	n      int64
	stride int64
	sub    *node
	subs   []*node
	offs   []int64
	cum    []int64
	elem   *Elem // of run and pieces

	lo, hi   int64 // where the bytes are: [off+lo, off+hi)
	runs     int64 // number of runs, before merging across repetitions
	shortest int64 // run
}

type kind uint8

const (
	nothing kind = iota
	run
	loop
	list
	pieces
	seq
)

// inlineRuns is up to how many runs a part of a struct may have to be dissolved
// into its surroundings: enough for nested structs and short arrays in them, not
// so many that nesting multiplies memory.
const inlineRuns = 32

func runOf(size int64, e *Elem) *node {
	if size == 0 {
		return &node{}
	}
	return &node{kind: run, size: size, elem: e, hi: size, runs: 1, shortest: size}
}

// at displaces n.
func (n *node) at(off int64) *node {
	if off == 0 || n.kind == nothing {
		return n
	}
	c := *n
	c.off += off
	return &c
}

// repeat is n times sub, stride apart.
func repeat(n, stride int64, sub *node) *node {
	if n == 1 {
		return sub
	}
	if m, ok := sub.merged(n, stride); ok {
		r := m // here, so that it is not allocated for loops
		return &r
	}
	r := &node{kind: loop, off: sub.off, n: n, stride: stride, sub: sub.at(-sub.off), size: n * sub.size,
		runs: n * sub.runs, shortest: sub.shortest}
	r.span()
	return r
}

// merged is n times sub, stride apart, if that is no further loop.
func (sub *node) merged(n, stride int64) (r node, ok bool) {
	switch {
	case n == 0 || sub.kind == nothing:
		return node{}, true
	case n == 1:
		return *sub, true
	case sub.kind == run && stride == sub.size:
		r = *sub
		r.size *= n
		r.hi, r.shortest = r.size, r.size
		return r, true
	case sub.kind == loop && stride == sub.n*sub.stride:
		r = *sub
		r.n *= n
		r.size *= n
		r.runs *= n
		r.span()
		return r, true
	}
	return node{}, false
}

// repeated is repeat of a value: only what a loop repeats is allocated.
func (sub node) repeated(n, stride int64) node {
	if r, ok := sub.merged(n, stride); ok {
		return r
	}
	r := node{kind: loop, off: sub.off, n: n, stride: stride, size: n * sub.size, runs: n * sub.runs, shortest: sub.shortest}
	within := new(node)
	*within = sub
	within.off = 0
	r.sub = within
	r.span()
	return r
}

// span sets lo and hi of a loop.
func (n *node) span() {
	far := (n.n - 1) * n.stride
	n.lo, n.hi = n.sub.lo+min(0, far), n.sub.hi+max(0, far)
}

// scatter is sub at each of offs.
func scatter(offs []int64, sub *node) *node {
	if len(offs) == 0 || sub.kind == nothing {
		return &node{}
	}
	first := offs[0]
	if stride, ok := evenly(offs); ok {
		return repeat(int64(len(offs)), stride, sub).at(first)
	}
	c := &node{kind: list, off: sub.off, sub: sub.at(-sub.off), offs: offs, n: int64(len(offs)),
		runs: int64(len(offs)) * sub.runs, shortest: sub.shortest}
	c.size = c.n * sub.size
	lo, hi := first, first
	for _, o := range offs {
		lo, hi = min(lo, o), max(hi, o)
	}
	c.lo, c.hi = lo+c.sub.lo, hi+c.sub.hi
	return c
}

// evenly reports whether offsets have one distance.
func evenly(offs []int64) (stride int64, ok bool) {
	if len(offs) == 1 {
		return 0, true
	}
	stride = offs[1] - offs[0]
	for i := 2; i < len(offs); i++ {
		if offs[i]-offs[i-1] != stride {
			return 0, false
		}
	}
	return stride, true
}

// runList collects runs of one basic datatype, or of bytes, merging what touches.
type runList struct {
	offs, sizes []int64
	elem        *Elem
}

func (l *runList) add(off, size int64) {
	if size == 0 {
		return
	}
	if i := len(l.offs) - 1; i >= 0 && l.offs[i]+l.sizes[i] == off {
		l.sizes[i] += size
		return
	}
	l.offs, l.sizes = append(l.offs, off), append(l.sizes, size)
}

// node is the program of the list.
func (l *runList) node() *node {
	if len(l.offs) == 0 {
		return &node{}
	}
	same := true
	shortest := l.sizes[0]
	for _, s := range l.sizes {
		same = same && s == shortest
		shortest = min(shortest, s)
	}
	if same {
		return scatter(l.offs, runOf(shortest, l.elem))
	}
	c := &node{kind: pieces, offs: l.offs, cum: make([]int64, len(l.offs)+1), elem: l.elem,
		n: int64(len(l.offs)), runs: int64(len(l.offs)), shortest: shortest,
		lo: l.offs[0], hi: l.offs[0]}
	for i, s := range l.sizes {
		c.cum[i+1] = c.cum[i] + s
		c.lo, c.hi = min(c.lo, l.offs[i]), max(c.hi, l.offs[i]+s)
	}
	c.size = c.cum[len(l.sizes)]
	return c
}

// sequence is one node after the other.
func sequence(subs []*node) *node {
	var out []*node
	l := runList{}
	flush := func() {
		if len(l.offs) > 0 {
			out = append(out, l.node())
		}
		l = runList{}
	}
	for _, s := range subs {
		if s.kind == nothing {
			continue
		}
		if s.runs > inlineRuns {
			flush()
			out = append(out, s)
			continue
		}
		s.each(0, func(e *Elem, off, size int64) {
			if e != l.elem {
				flush()
				l.elem = e
			}
			l.add(off, size)
		})
	}
	flush()
	switch len(out) {
	case 0:
		return &node{}
	case 1:
		return out[0]
	}
	c := &node{kind: seq, subs: out, cum: make([]int64, len(out)+1), n: int64(len(out)), shortest: out[0].shortest,
		lo: out[0].off + out[0].lo, hi: out[0].off + out[0].hi}
	for i, s := range out {
		c.cum[i+1] = c.cum[i] + s.size
		c.runs += s.runs
		c.shortest = min(c.shortest, s.shortest)
		c.lo, c.hi = min(c.lo, s.off+s.lo), max(c.hi, s.off+s.hi)
	}
	c.size = c.cum[len(out)]
	return c
}

// each calls f for every run, in order. It is for small programs.
func (n *node) each(off int64, f func(e *Elem, off, size int64)) {
	off += n.off
	switch n.kind {
	case run:
		f(n.elem, off, n.size)
	case loop:
		for i := range n.n {
			n.sub.each(off+i*n.stride, f)
		}
	case list:
		for _, o := range n.offs {
			n.sub.each(off+o, f)
		}
	case pieces:
		for i, o := range n.offs {
			f(n.elem, off+o, n.cum[i+1]-n.cum[i])
		}
	case seq:
		for _, s := range n.subs {
			s.each(off, f)
		}
	}
}
