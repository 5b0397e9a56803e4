package match

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// owner stands for a request or message of the layer above.
type owner struct {
	node Node[owner]
	id   int
}

// oracle is the standard's rule in its plainest form: two lists, searched in order.
type oracle struct{ posted, unexp []*owner }

func (k Key) matches(env Key) bool {
	return k.Ctx == env.Ctx && (k.Src == AnySource || k.Src == env.Src) && (k.Tag == AnyTag || k.Tag == env.Tag)
}

func (o *oracle) receive(env Key) int {
	return slices.IndexFunc(o.posted, func(r *owner) bool { return r.node.Key.matches(env) })
}

func (o *oracle) message(pattern Key) int {
	return slices.IndexFunc(o.unexp, func(m *owner) bool { return pattern.matches(m.node.Key) })
}

// history runs a table and the oracle side by side.
type history struct {
	t      testing.TB
	table  *Table[owner, owner]
	oracle oracle
	spare  []*owner // owners in no queue, to be used again
	left   *owner   // left a queue last: must not be found there
	ids    int
}

func newHistory(t testing.TB, seed uint64) *history {
	return &history{t: t, table: New[owner, owner](seed)}
}

func (h *history) owner(k Key) *owner {
	var o *owner
	if n := len(h.spare); n > 0 {
		o, h.spare = h.spare[n-1], h.spare[:n-1]
	} else {
		o = &owner{}
		o.node.Owner = o
	}
	h.ids++
	o.id = h.ids
	o.node.Key = k
	return o
}

// release ends an owner's life; the one before it is reused.
func (h *history) release(o *owner) {
	if h.left != nil {
		h.spare = append(h.spare, h.left)
	}
	h.left = o
}

func (h *history) same(what string, got *Node[owner], list []*owner, i int) *owner {
	h.t.Helper()
	switch {
	case got == nil && i < 0:
		return nil
	case got == nil:
		h.t.Fatalf("%s: got nothing, want %d %v", what, list[i].id, list[i].node.Key)
	case i < 0:
		h.t.Fatalf("%s: got %d %v, want nothing", what, got.Owner.id, got.Key)
	case got.Owner != list[i]:
		h.t.Fatalf("%s: got %d %v, want %d %v", what, got.Owner.id, got.Key, list[i].id, list[i].node.Key)
	}
	return list[i]
}

func (h *history) post(k Key) {
	r := h.owner(k)
	i := h.oracle.message(k)
	if m := h.same("Post", h.table.Post(&r.node), h.oracle.unexp, i); m != nil {
		h.oracle.unexp = slices.Delete(h.oracle.unexp, i, i+1)
		h.release(m)
		h.release(r)
		return
	}
	h.oracle.posted = append(h.oracle.posted, r)
}

func (h *history) arrive(k Key) {
	i := h.oracle.receive(k)
	if r := h.same("Arrive", h.table.Arrive(k), h.oracle.posted, i); r != nil {
		h.oracle.posted = slices.Delete(h.oracle.posted, i, i+1)
		h.release(r)
		return
	}
	m := h.owner(k)
	h.table.Add(&m.node)
	h.oracle.unexp = append(h.oracle.unexp, m)
}

func (h *history) probe(k Key) *owner {
	return h.same("Probe", h.table.Probe(k), h.oracle.unexp, h.oracle.message(k))
}

// mprobe takes what probe sees.
func (h *history) mprobe(k Key) {
	if m := h.probe(k); m != nil {
		h.remove(slices.Index(h.oracle.unexp, m))
	}
}

func (h *history) remove(i int) {
	m := h.oracle.unexp[i]
	if !h.table.Remove(&m.node) || h.table.Remove(&m.node) {
		h.t.Fatalf("Remove of queued message %d %v: not exactly once", m.id, m.node.Key)
	}
	h.oracle.unexp = slices.Delete(h.oracle.unexp, i, i+1)
	h.release(m)
}

func (h *history) cancel(i int) {
	r := h.oracle.posted[i]
	if !h.table.Cancel(&r.node) || h.table.Cancel(&r.node) {
		h.t.Fatalf("Cancel of posted receive %d %v: not exactly once", r.id, r.node.Key)
	}
	h.oracle.posted = slices.Delete(h.oracle.posted, i, i+1)
	h.release(r)
}

// gone checks that what left the table is not found in it.
func (h *history) gone() {
	if h.left != nil && (h.table.Cancel(&h.left.node) || h.table.Remove(&h.left.node)) {
		h.t.Fatalf("%d %v was found again after it had left", h.left.id, h.left.node.Key)
	}
}

func (h *history) purge(ctx uint64) {
	var want []*owner
	h.oracle.unexp = slices.DeleteFunc(h.oracle.unexp, func(m *owner) bool {
		if m.node.Ctx == ctx {
			want = append(want, m)
		}
		return m.node.Ctx == ctx
	})
	var got []*owner
	h.table.PurgeContext(ctx, func(m *owner) { got = append(got, m) })
	if !slices.Equal(got, want) {
		h.t.Fatalf("PurgeContext(%d): %d messages, want %d, or out of order", ctx, len(got), len(want))
	}
	for _, m := range got {
		h.release(m)
	}
}

// check compares everything and checks the table's own invariants.
func (h *history) check() {
	h.t.Helper()
	if h.table.Posted() != len(h.oracle.posted) || h.table.Unexpected() != len(h.oracle.unexp) {
		h.t.Fatalf("%d posted, %d unexpected; want %d, %d", h.table.Posted(), h.table.Unexpected(), len(h.oracle.posted), len(h.oracle.unexp))
	}
	i := 0
	for r := range h.table.Receives() {
		h.same("Receives", r, h.oracle.posted, i)
		i++
	}
	i = 0
	for m := range h.table.Messages() {
		h.same("Messages", m, h.oracle.unexp, i)
		i++
	}
	checkQueue(h.t, "posted", &h.table.posted)
	checkQueue(h.t, "unexpected", &h.table.unexp)
}

// checkQueue checks what queue.go and groups.go promise.
func checkQueue[T any](t testing.TB, name string, q *queue[T]) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(name+": "+format, args...)
	}
	if q.active == 0 && q.n > scanMax || q.active != 0 && q.n <= scanMin {
		fail("%d entries with groupings %b", q.n, q.active)
	}
	if q.active != 0 && q.active&1 == 0 {
		fail("groupings %b without the first", q.active)
	}
	// Slots: every one below high is the anchor, in the order list or free.
	used := make([]bool, len(q.slots))
	used[0] = true
	var order []uint32
	var count [classes]int
	seq, prev := uint64(0), uint32(0)
	for s := q.slots[0].next; s != 0; s = q.slots[s].next {
		e := &q.slots[s]
		if used[s] || s >= q.high || e.prev != prev || e.seq <= seq || e.node == nil || e.node.at != s || e.ctx != e.node.Ctx || e.word != e.node.Key.word() {
			fail("bad entry in slot %d: %+v", s, *e)
		}
		used[s], seq, prev = true, e.seq, s
		order = append(order, s)
		count[classOf(e.mask)]++
	}
	if q.slots[0].prev != prev || len(order) != q.n {
		fail("order list of %d ends at %d, anchor says %d, n is %d", len(order), prev, q.slots[0].prev, q.n)
	}
	free := 0
	for s := q.free; s != 0; s = q.slots[s].next {
		if used[s] || s >= q.high || q.slots[s].node != nil {
			fail("bad free slot %d", s)
		}
		used[s] = true
		free++
	}
	if int(q.high) != 1+q.n+free {
		fail("high %d, %d entries, %d free", q.high, q.n, free)
	}
	if q.active != 0 && count != q.count || q.active == 0 && q.count != [classes]int{} {
		fail("counts %v, want %v (groupings %b)", q.count, count, q.active)
	}
	for c := range classes {
		g := &q.groups[c]
		if q.active&(1<<c) == 0 {
			if g.n != 0 || slices.ContainsFunc(g.buckets, func(s uint32) bool { return s != 0 }) {
				fail("grouping %d is not kept and not empty", c)
			}
			continue
		}
		type pattern struct{ ctx, word uint64 }
		want := map[pattern][]uint32{}
		for _, s := range order {
			w := q.slots[s].word
			if c != 0 {
				w = masked(w, maskOf(c))
			}
			p := pattern{q.slots[s].ctx, w}
			want[p] = append(want[p], s)
		}
		if g.n != len(want) || 2*g.n > len(g.buckets) {
			fail("grouping %d: %d groups in %d buckets, want %d", c, g.n, len(g.buckets), len(want))
		}
		heads := 0
		for i, first := range g.buckets {
			for f := first; f != 0; f = q.link(c, f).chain {
				heads++
				var p pattern
				p.ctx, p.word = q.slots[f].ctx, q.slots[f].word
				if c != 0 {
					p.word = masked(p.word, maskOf(c))
				}
				var group []uint32
				for s := f; ; {
					l := q.link(c, s)
					if l.hash != q.hash.sum(p.ctx, p.word) || int(l.hash)&(len(g.buckets)-1) != i || q.link(c, l.next).prev != s || (l.chain == notFirst) != (s != f) {
						fail("grouping %d: bad link of slot %d: %+v", c, s, *l)
					}
					group = append(group, s)
					if s = l.next; s == f {
						break
					}
				}
				if !slices.Equal(group, want[p]) {
					fail("grouping %d, pattern %x: %v, want %v", c, p, group, want[p])
				}
			}
		}
		if heads != len(want) {
			fail("grouping %d: %d groups in buckets, want %d", c, heads, len(want))
		}
	}
}

// mix says how a random history is drawn.
type mix struct {
	name              string
	ctxs              int
	srcs, tags        int32
	wildSrc, wildTag  float64 // share of receives and probes that are wild
	cancels, purges   float64 // share of steps
	depth             int     // depth the history is driven to, up and down in turns
	steps, checkEvery int
	internalTags      bool
}

func (m mix) key(r *rand.Rand, wild bool) Key {
	// Contexts that agree in one half must not be mixed up.
	c := uint64(r.IntN(m.ctxs))
	k := Key{Ctx: c<<32 | c*c&3, Src: r.Int32N(m.srcs), Tag: r.Int32N(m.tags)}
	if m.internalTags && k.Tag&1 == 1 {
		k.Tag = -k.Tag
	}
	if wild && r.Float64() < m.wildSrc {
		k.Src = AnySource
	}
	if wild && r.Float64() < m.wildTag {
		k.Tag = AnyTag
	}
	return k
}

func (m mix) run(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	h := newHistory(t, r.Uint64())
	steps := m.steps
	if testing.Short() {
		steps /= 10
	}
	deepest := [2]int{}
	// A phase drives one of the queues to a depth, then down again.
	bias, target := 0.5, 0
	for i := range steps {
		if n := len(h.oracle.posted) + len(h.oracle.unexp); n >= target && bias != 0.5 || i%(4*m.depth+16) == 0 {
			target = 1 + r.IntN(m.depth)
			bias = []float64{0.05, 0.5, 0.95}[r.IntN(3)]
			if n > target {
				bias = 0.5
			}
		}
		switch x := r.Float64(); {
		case x < m.purges:
			h.purge(m.key(r, false).Ctx)
		case x < m.purges+m.cancels && len(h.oracle.posted) > 0:
			h.cancel(r.IntN(len(h.oracle.posted)))
		case x < m.purges+2*m.cancels && len(h.oracle.unexp) > 0:
			h.remove(r.IntN(len(h.oracle.unexp)))
		case x < m.purges+2*m.cancels+0.05:
			h.probe(m.key(r, true))
		case x < m.purges+2*m.cancels+0.07:
			h.mprobe(m.key(r, true))
		case r.Float64() < bias:
			h.post(m.key(r, true))
		default:
			h.arrive(m.key(r, false))
		}
		h.gone()
		if i%m.checkEvery == 0 {
			h.check()
		}
		deepest[0], deepest[1] = max(deepest[0], len(h.oracle.posted)), max(deepest[1], len(h.oracle.unexp))
	}
	h.check()
	if deepest[0] <= scanMax || deepest[1] <= scanMax {
		t.Errorf("deepest queues %v: the index was not reached", deepest)
	}
}

// 3.5: order of messages between pairs, order of receives across wildcards,
// whatever the depth.
func TestOrderAgainstLists(t *testing.T) {
	for _, m := range []mix{
		{name: "around the threshold", ctxs: 2, srcs: 3, tags: 3, wildSrc: 0.2, wildTag: 0.2, cancels: 0.05, purges: 0.002, depth: 16, steps: 1_500_000, checkEvery: 31},
		{name: "exact only", ctxs: 3, srcs: 8, tags: 16, cancels: 0.02, purges: 0.0005, depth: 100, steps: 500_000, checkEvery: 97},
		{name: "any source", ctxs: 2, srcs: 20, tags: 4, wildSrc: 0.7, cancels: 0.03, depth: 60, steps: 500_000, checkEvery: 97},
		{name: "any tag", ctxs: 2, srcs: 4, tags: 20, wildTag: 0.7, cancels: 0.03, depth: 60, steps: 500_000, checkEvery: 97},
		{name: "mostly both", ctxs: 40, srcs: 4, tags: 4, wildSrc: 0.9, wildTag: 0.9, cancels: 0.03, depth: 80, steps: 500_000, checkEvery: 97},
		{name: "many contexts", ctxs: 300, srcs: 2, tags: 2, wildSrc: 0.3, wildTag: 0.3, cancels: 0.01, purges: 0.01, depth: 600, steps: 300_000, checkEvery: 499},
		{name: "deep", ctxs: 4, srcs: 30, tags: 50, wildSrc: 0.01, wildTag: 0.01, cancels: 0.01, depth: 3000, steps: 200_000, checkEvery: 2003},
		{name: "one key", ctxs: 1, srcs: 1, tags: 1, wildSrc: 0.3, wildTag: 0.3, cancels: 0.1, depth: 50, steps: 300_000, checkEvery: 97},
		{name: "internal tags", ctxs: 2, srcs: 3, tags: 30, wildSrc: 0.3, wildTag: 0.3, cancels: 0.03, depth: 40, steps: 300_000, checkEvery: 97, internalTags: true},
	} {
		t.Run(m.name, func(t *testing.T) { m.run(t, 7) })
	}
}

// Every history of a few steps over two sources and two tags, from an empty and
// from a deep start.
func TestOrderExhaustive(t *testing.T) {
	patterns := []Key{{0, 0, 0}, {0, 1, 0}, {0, AnySource, 0}, {0, 0, AnyTag}, {0, AnySource, AnyTag}}
	envelopes := []Key{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}}
	const length = 5
	ops := len(patterns) + len(envelopes)
	total := 1
	for range length {
		total *= ops
	}
	for _, base := range []int{0, 1, 2} { // nothing, receives or messages of another context beneath
		for code := range total {
			h := newHistory(t, 1)
			for i := range scanMax {
				switch base {
				case 1:
					h.post(Key{1, int32(i), 0})
				case 2:
					h.arrive(Key{1, int32(i), 0})
				}
			}
			for c, i := code, 0; i < length; i++ {
				if op := c % ops; op < len(patterns) {
					h.probe(patterns[op])
					h.post(patterns[op])
				} else {
					h.arrive(envelopes[op-len(patterns)])
				}
				c /= ops
			}
			h.check()
		}
	}
}

// A peak's memory is given up once the queue has been short for a while, with
// entries standing in it, and not while it comes back.
func TestPeakMemoryIsGivenUp(t *testing.T) {
	h := newHistory(t, 3)
	tab := h.table
	fill := func(n int) {
		nodes := make([]owner, n)
		for i := range nodes {
			nodes[i].node = Node[owner]{Key: Key{9, 1, int32(i)}, Owner: &nodes[i]}
			tab.Add(&nodes[i].node)
		}
		for i := range nodes {
			if m := tab.Post(&Node[owner]{Key: Key{9, AnySource, int32(i)}}); m.Owner != &nodes[i] {
				t.Fatalf("message %d was not matched", i)
			}
		}
	}
	for i := range int32(3) {
		h.arrive(Key{1, i, 0})
	}
	fill(2 * keepSlots)
	peak := len(tab.unexp.slots)
	if peak < 2*keepSlots || tab.unexp.groups[anySource].links == nil {
		t.Fatalf("peak of %d slots", peak)
	}
	h.check()
	for range keepAdds / 2 {
		h.arrive(Key{1, 5, 0})
		h.post(Key{1, 5, 0})
	}
	fill(2 * keepSlots)
	if len(tab.unexp.slots) != peak {
		t.Fatalf("%d slots after a second peak, want %d", len(tab.unexp.slots), peak)
	}
	for range keepAdds {
		h.arrive(Key{1, 5, 0})
		h.post(Key{1, 5, 0})
	}
	h.check()
	if n := len(tab.unexp.slots); n != firstSlots {
		t.Errorf("%d slots long after the peak, want %d", n, firstSlots)
	}
	h.mprobe(Key{1, AnySource, AnyTag})
	h.cancelAll()
}

func (h *history) cancelAll() {
	for r := range h.table.Receives() {
		if !h.table.Cancel(r) {
			h.t.Fatal("a receive just yielded could not be cancelled")
		}
	}
	h.oracle.posted = nil
	for m := range h.table.Messages() {
		if !h.table.Remove(m) {
			h.t.Fatal("a message just yielded could not be removed")
		}
	}
	h.oracle.unexp = nil
	h.check()
}

// Diagnostics may remove what they are given.
func TestRemoveWhileIterating(t *testing.T) {
	for _, n := range []int32{0, 1, 5, 9, 100} {
		h := newHistory(t, 4)
		for i := range n {
			h.post(Key{1, i, AnyTag})
			h.arrive(Key{2, i, 3})
		}
		h.check()
		h.cancelAll()
	}
}

// The zero Node is not queued anywhere.
func TestZeroNodeIsNotQueued(t *testing.T) {
	tab := New[owner, owner](1)
	var o owner
	if tab.Cancel(&o.node) || tab.Remove(&o.node) {
		t.Error("the zero Node was found in an empty table")
	}
}

// Tags a peer can choose to collide under an unkeyed or masked hash do not.
func TestChosenTagsDoNotCollide(t *testing.T) {
	patterns := map[string]func(i int) Key{
		"tags in steps of 2^16":    func(i int) Key { return Key{1, 1, int32(i << 16 & 0x7fffffff)} },
		"tags in steps of 8":       func(i int) Key { return Key{1, 1, int32(i * 8)} },
		"consecutive tags":         func(i int) Key { return Key{1, 1, int32(i)} },
		"consecutive sources":      func(i int) Key { return Key{1, int32(i), 7} },
		"consecutive contexts":     func(i int) Key { return Key{uint64(i), 1, 7} },
		"contexts by upper half":   func(i int) Key { return Key{uint64(i) << 32, 1, 7} },
		"source and tag in unison": func(i int) Key { return Key{1, int32(i), int32(i)} },
	}
	const n = 1 << 14
	for name, f := range patterns {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				h := newHasher(seed * 0x123456789)
				seen := map[Key]bool{}
				buckets := make([]int, 2*n)
				longest := 0
				for i := range n {
					k := f(i)
					if seen[k] {
						continue
					}
					seen[k] = true
					b := &buckets[h.sum(k.Ctx, k.word())&(2*n-1)]
					*b++
					longest = max(longest, *b)
				}
				// 7-8 is usual for random throws; linear structure of the
				// hash can stack a few more, never a share of n.
				if longest > 64 {
					t.Errorf("seed %d: %d of %d keys in one bucket", seed, longest, len(seen))
				}
			}
		})
	}
}

// FuzzHistory runs a history of table and oracle from bytes, two per step.
func FuzzHistory(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 60, 400} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(uint64(n), b)
	}
	f.Fuzz(func(t *testing.T, seed uint64, b []byte) {
		h := newHistory(t, seed)
		for ; len(b) >= 2; b = b[2:] {
			op, arg := b[0], b[1]
			k := Key{Ctx: uint64(arg & 1), Src: int32(arg >> 1 & 3), Tag: int32(arg >> 3 & 7)}
			p := k
			if arg&0x40 != 0 {
				p.Src = AnySource
			}
			if arg&0x80 != 0 {
				p.Tag = AnyTag
			}
			switch op % 16 {
			default:
				h.arrive(k)
			case 5, 6, 7, 8, 9, 10:
				h.post(p)
			case 11:
				h.probe(p)
			case 12:
				h.mprobe(p)
			case 13:
				if n := len(h.oracle.posted); n > 0 {
					h.cancel(int(arg) % n)
				}
			case 14:
				if n := len(h.oracle.unexp); n > 0 {
					h.remove(int(arg) % n)
				}
			case 15:
				if arg >= 0xf0 {
					h.purge(k.Ctx)
				}
			}
			h.gone()
			h.check()
		}
	})
}
