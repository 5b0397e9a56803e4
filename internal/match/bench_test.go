package match

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

var depths = []int{1, 8, 10, 1000, 10000, 50000}

// order says which entry is matched next, by its position in a linear list.
type order string

const (
	reverse order = "reverse" // the deepest: a list search passes all others
	random  order = "random"  // a random one, for which prefetching does not help
	// scattered is random with owners of 256 bytes, the size of requests and
	// messages: it shows the additional cache and TLB misses of the owners, which
	// the caller has when it fills in a node.
	scattered order = "scattered"
)

// backlog is a queue of depth entries with distinct tags. The benchmark repeatedly
// matches an entry and replaces it by a younger one.
type backlog struct {
	tab    *Table[int, int]
	nodes  []Node[int]
	stride int // distance of the used nodes in the slice
	order  []int32
	i, dir int
	posted bool
	wild   int // class of the pattern
}

func newBacklog(depth int, posted bool, o order, wild int) *backlog {
	b := &backlog{tab: New[int, int](rand.Uint64()), stride: 1, order: make([]int32, depth), dir: 1, posted: posted, wild: wild}
	if o == scattered {
		b.stride = 256 / int(unsafe.Sizeof(Node[int]{}))
	}
	b.nodes = make([]Node[int], depth*b.stride)
	for i := range b.order {
		b.order[i] = int32(depth - 1 - i)
	}
	if o != reverse {
		rand.Shuffle(depth, func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
	}
	for i := range depth {
		b.queue(int32(i))
	}
	return b
}

// envelope returns the envelope of the i-th message, which is also the pattern that
// matches only this message.
func (b *backlog) envelope(i int32) Key { return Key{Ctx: 5, Src: i & 1, Tag: i} }

func (b *backlog) pattern(i int32) Key {
	k := b.envelope(i)
	if b.wild&anySource != 0 {
		k.Src = AnySource
	}
	if b.wild&anyTag != 0 {
		k.Tag = AnyTag
	}
	return k
}

func (b *backlog) queue(i int32) {
	n := &b.nodes[int(i)*b.stride]
	if b.posted {
		n.Key = b.pattern(i)
		if b.tab.Post(n) != nil {
			panic("matched")
		}
		return
	}
	n.Key = b.envelope(i)
	if b.tab.Arrive(n.Key) != nil {
		panic("matched")
	}
	b.tab.Add(n)
}

// match matches the i-th entry, which removes it.
func (b *backlog) match(i int32, other *Node[int]) {
	if b.posted {
		if b.tab.Arrive(b.envelope(i)) == nil {
			panic("not matched")
		}
		return
	}
	other.Key = b.pattern(i)
	if b.tab.Post(other) == nil {
		panic("not matched")
	}
}

// step matches the next entry of the order and queues it again. It goes through the
// order alternately forwards and backwards, so that reverse always matches the deepest
// entry except for those just added.
func (b *backlog) step(other *Node[int]) {
	i := b.order[b.i]
	b.i += b.dir
	if uint(b.i) >= uint(len(b.order)) {
		b.dir = -b.dir
		b.i += b.dir
	}
	b.match(i, other)
	b.queue(i)
}

// BenchmarkMatch: one match and one addition at a constant depth.
func BenchmarkMatch(b *testing.B) {
	for _, side := range []string{"unexpected", "posted"} {
		for wild, class := range []string{"exact", "anysource"} {
			for _, o := range []order{reverse, random, scattered} {
				for _, depth := range depths {
					b.Run(fmt.Sprintf("%s/%s/%s/%d", side, class, o, depth), func(b *testing.B) {
						l := newBacklog(depth, side == "posted", o, wild*anySource)
						other := &Node[int]{}
						l.step(other)
						b.ReportAllocs()
						for b.Loop() {
							l.step(other)
						}
					})
				}
			}
		}
	}
}

// BenchmarkDrain fills to depth, then matches all in reverse order, as "halo bench
// matching" does. The time is per message: one addition and one match.
func BenchmarkDrain(b *testing.B) {
	for _, side := range []string{"unexpected", "posted"} {
		for _, depth := range depths {
			b.Run(fmt.Sprintf("%s/%d", side, depth), func(b *testing.B) {
				l := newBacklog(depth, side == "posted", reverse, 0)
				other := &Node[int]{}
				calls := 0 // in the current round: depth matches, then depth additions
				b.ReportAllocs()
				for b.Loop() {
					for range 2 {
						if calls < depth {
							l.match(l.order[calls], other)
						} else {
							l.queue(int32(calls - depth))
						}
						calls++
						if calls == 2*depth {
							calls = 0
						}
					}
				}
			})
		}
	}
}

// BenchmarkMixed alternates receives of the classes exact and any source with matched
// probes of the classes any tag and both, in random order, so that the queue keeps every
// grouping. The time is per match and addition.
func BenchmarkMixed(b *testing.B) {
	for _, depth := range depths {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			l := newBacklog(depth, false, random, 0)
			other := &Node[int]{}
			turn := 0
			mixed := func() {
				turn++
				l.wild = turn & 3
				if l.wild&anyTag == 0 {
					l.step(other)
					return
				}
				k := Key{5, AnySource, AnyTag}
				if l.wild&anySource == 0 {
					k.Src = int32(turn >> 2 & 1)
				}
				if m := l.tab.Probe(k); m != nil {
					l.tab.Remove(m)
					l.tab.Add(m)
				}
			}
			for range 4 {
				mixed()
			}
			b.ReportAllocs()
			for b.Loop() {
				mixed()
			}
		})
	}
}

// BenchmarkPeek measures Arrive, Probe and Cancel that find nothing in a queue of 50,000
// entries: their cost without a match.
func BenchmarkPeek(b *testing.B) {
	miss := Key{5, 1, 1 << 30}
	for wild, class := range []string{"exact", "anysource", "anytag", "both"} {
		b.Run("arrive/"+class, func(b *testing.B) {
			l := newBacklog(50000, true, reverse, wild)
			b.ReportAllocs()
			for b.Loop() {
				l.tab.Arrive(Key{6, 1, 7})
			}
		})
	}
	l := newBacklog(50000, false, reverse, 0)
	b.Run("probe", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.tab.Probe(miss)
		}
	})
	b.Run("post and cancel", func(b *testing.B) {
		r := &Node[int]{Key: miss}
		b.ReportAllocs()
		for b.Loop() {
			l.tab.Post(r)
			l.tab.Cancel(r)
		}
	})
}

// BenchmarkEmpty measures a match at depth 0, with nothing else queued: of a message with
// one posted receive, or of a receive with one unexpected message.
func BenchmarkEmpty(b *testing.B) {
	tab := New[int, int](1)
	k := Key{5, 1, 7}
	r, m := &Node[int]{Key: k}, &Node[int]{Key: k}
	b.Run("posted", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tab.Post(r)
			if tab.Arrive(k) != r {
				b.Fatal("not matched")
			}
		}
	})
	b.Run("unexpected", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if tab.Arrive(k) != nil {
				b.Fatal("matched")
			}
			tab.Add(m)
			if tab.Post(r) != m {
				b.Fatal("not matched")
			}
		}
	})
}

// No call allocates once the tables have grown, at any depth, also while the queues cross
// the threshold in both directions.
func TestNoAllocations(t *testing.T) {
	other := &Node[int]{}
	for _, depth := range []int{1, 8, 10, 1000, 20000} {
		for _, posted := range []bool{false, true} {
			for _, wild := range []int{0, anySource} {
				l := newBacklog(depth, posted, random, wild)
				drainAndFill := func() {
					for _, i := range l.order {
						l.match(i, other)
					}
					for i := range depth {
						l.queue(int32(i))
					}
				}
				probe := func() {
					if m := l.tab.Probe(Key{5, 0, AnyTag}); m != nil {
						l.tab.Remove(m)
						l.tab.Add(m)
					}
					l.tab.Probe(Key{6, AnySource, AnyTag})
					r := &l.nodes[0]
					if l.posted && l.tab.Cancel(r) {
						l.tab.Post(r)
					}
				}
				cycle := func() { drainAndFill(); probe() }
				cycle()
				cycle()
				if n := testing.AllocsPerRun(3, cycle); n != 0 {
					t.Errorf("depth %d, posted %v, class %d: %v allocations a cycle", depth, posted, wild, n)
				}
			}
		}
	}
}

// A slot is one cache line: a second cache line per match would slow down every benchmark.
func TestSlotIsACacheLine(t *testing.T) {
	if n := unsafe.Sizeof(slot[int]{}); n != 64 {
		t.Errorf("a slot has %d bytes, want 64", n)
	}
}
