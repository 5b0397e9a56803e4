package match

import (
	"slices"
	"testing"
)

// checkQueue checks the invariants of queue.go and groups.go.
func checkQueue[T any](t testing.TB, name string, q *queue[T]) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(name+": "+format, args...)
	}
	if q.active != 0 && q.n <= scanMin || (q.active == 0) != (q.entered == 0) || q.entered > q.seq {
		fail("%d entries with groupings %b, %d of %d have entered", q.n, q.active, q.entered, q.seq)
	}
	if q.active != 0 && q.active&1 == 0 {
		fail("groupings %b without the first", q.active)
	}
	// Every slot below high is the anchor, in the order list or free.
	used := make([]bool, len(q.slots))
	used[0] = true
	var order, entered []uint32
	var count [classes]int
	seq, prev := uint64(0), uint32(0)
	for s := q.slots[0].next; s != 0; s = q.slots[s].next {
		e := &q.slots[s]
		if used[s] || s >= q.high || e.prev != prev || e.seq <= seq || e.node == nil || e.node.at != s || e.ctx != e.node.Ctx || e.word != e.node.Key.word() {
			fail("bad entry in slot %d: %+v", s, *e)
		}
		used[s], seq, prev = true, e.seq, s
		order = append(order, s)
		if e.seq <= q.entered {
			entered = append(entered, s)
			count[classOf(e.mask)]++
		}
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
	if count != q.count {
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
		for _, s := range entered {
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
					s = l.next
					if s == f {
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
