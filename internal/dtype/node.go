package dtype

// node is a loop program, which compile makes of a type. Displacements are in bytes
// and relative to the node's off, which is relative to the enclosing node.
//
//	run     size bytes
//	loop    n times sub, stride apart
//	list    sub at each of offs
//	pieces  runs at offs, the i-th being bytes cum[i] to cum[i+1] of the packed form
//	seq     each of subs, with cum as in pieces
//
// With these kinds, a division or a binary search at each level finds a position of the
// packed form. The sub of a loop or list has off 0. The constructors below keep programs
// small: they merge adjacent repetitions into runs, nested loops with fitting strides into
// one loop, and equal runs at equal distances into loops. Nodes are shared and immutable.
//
// In a typed program elem is set in every run, and only runs of one basic datatype merge;
// conversion to external32 uses it.
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

	lo, hi   int64 // all bytes lie in [off+lo, off+hi)
	runs     int64 // number of runs; adjacent runs of two repetitions count as two
	shortest int64 // length of the shortest run
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

// inlineRuns is the largest number of runs with which sequence replaces a part of a struct
// by its runs: enough for nested structs and short arrays in them, but not so many that
// nesting multiplies memory.
const inlineRuns = 32

func runOf(size int64, e *Elem) *node {
	if size == 0 {
		return &node{}
	}
	return &node{kind: run, size: size, elem: e, hi: size, runs: 1, shortest: size}
}

// at returns n displaced by off.
func (n *node) at(off int64) *node {
	if off == 0 || n.kind == nothing {
		return n
	}
	c := *n
	c.off += off
	return &c
}

// repeat returns the program of n repetitions of sub, stride bytes apart.
func repeat(n, stride int64, sub *node) *node {
	if n == 1 {
		return sub
	}
	if m, ok := sub.merged(n, stride); ok {
		r := m // a copy in this branch: else the compiler allocates m for loops, too
		return &r
	}
	r := &node{kind: loop, off: sub.off, n: n, stride: stride, sub: sub.at(-sub.off), size: n * sub.size,
		runs: n * sub.runs, shortest: sub.shortest}
	r.span()
	return r
}

// merged returns n repetitions of sub, stride apart, if they need no additional loop.
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

// repeated is repeat for a node by value: it allocates only the body of a new loop.
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

// scatter returns the program of sub at each of offs.
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

// evenly reports whether consecutive offsets have equal distances, and returns the distance.
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

// runList collects runs of one basic datatype, or of bytes, and merges adjacent ones.
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

// sequence makes the program of one node after the other. The zero sequence is empty.
type sequence struct {
	out  []*node
	runs runList // those at the end
}

// flush ends the list of runs.
func (q *sequence) flush() {
	if len(q.runs.offs) > 0 {
		q.out = append(q.out, q.runs.node())
	}
	q.runs = runList{}
}

// run adds a run of size bytes.
func (q *sequence) run(e *Elem, off, size int64) {
	if e != q.runs.elem {
		q.flush()
		q.runs.elem = e
	}
	q.runs.add(off, size)
}

// repeat adds n repetitions of sub, stride bytes apart, from off on. It allocates nothing for a single run, since a
// struct may have very many parts.
func (q *sequence) repeat(n, stride int64, sub *node, off int64) {
	if m, ok := sub.merged(n, stride); ok && m.kind == run {
		q.run(m.elem, off+m.off, m.size)
		return
	}
	q.add(repeat(n, stride, sub).at(off))
}

// add adds a node.
func (q *sequence) add(n *node) {
	switch {
	case n.kind == nothing:
	case n.runs > inlineRuns:
		q.flush()
		q.out = append(q.out, n)
	default:
		n.each(0, q.run)
	}
}

// node is the program of all that was added.
func (q *sequence) node() *node {
	q.flush()
	switch len(q.out) {
	case 0:
		return &node{}
	case 1:
		return q.out[0]
	}
	first := q.out[0]
	c := &node{kind: seq, subs: q.out, cum: make([]int64, len(q.out)+1), n: int64(len(q.out)), shortest: first.shortest,
		lo: first.off + first.lo, hi: first.off + first.hi}
	for i, s := range q.out {
		c.cum[i+1] = c.cum[i] + s.size
		c.runs += s.runs
		c.shortest = min(c.shortest, s.shortest)
		c.lo, c.hi = min(c.lo, s.off+s.lo), max(c.hi, s.off+s.hi)
	}
	c.size = c.cum[len(q.out)]
	return c
}

// each calls f for every run, in order. It is for programs with few runs.
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
