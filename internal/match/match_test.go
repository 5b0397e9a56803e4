package match

import "testing"

// The table agrees with the oracle in every history of a few steps over two sources and
// two tags, with queues that are empty or deep at the start.
func TestOrderExhaustive(t *testing.T) {
	patterns := []Key{{0, 0, 0}, {0, 1, 0}, {0, AnySource, 0}, {0, 0, AnyTag}, {0, AnySource, AnyTag}}
	envelopes := []Key{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}}
	const length = 5
	ops := len(patterns) + len(envelopes)
	total := 1
	for range length {
		total *= ops
	}
	for _, base := range []int{0, 1, 2} { // at the start: nothing, other receives, other messages
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

// The memory of a peak is freed after the queue has been short for a while, even if it is
// not empty, and is not freed while peaks recur.
func TestPeakMemoryIsGivenUp(t *testing.T) {
	h := newHistory(t, 3)
	tab := h.table
	fill := func(n int) {
		nodes := make([]owner, n)
		for i := range nodes {
			nodes[i].node = Node[owner]{Key: Key{9, 1, int32(i)}, Owner: &nodes[i]}
			tab.Add(&nodes[i].node)
		}
		for i := n - 1; i >= 0; i-- { // by the index: the oldest come last
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

// A loop over an iterator may remove the entry that it was just given.
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

// Tags that collide under a hash without key, or under a masked one, do not collide here.
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
				// Random placement gives a longest chain of 7 or 8. The linear
				// structure of the hash can add a few, but no fraction of n.
				if longest > 64 {
					t.Errorf("seed %d: %d of %d keys in one bucket", seed, longest, len(seen))
				}
			}
		})
	}
}

// Neighbouring tags lie in different buckets of the same cache line.
func TestNeighbouringTagsShareALine(t *testing.T) {
	h := newHasher(5)
	seen := map[uint32]bool{}
	for tag := range int32(8) {
		k := Key{3, 2, 8000 + tag}
		seen[h.sum(k.Ctx, k.word())&127] = true
	}
	lowest := uint32(128)
	for b := range seen {
		lowest = min(lowest, b)
	}
	for b := range seen {
		if len(seen) != 8 || lowest%8 != 0 || b > lowest+7 {
			t.Fatalf("eight tags lie in buckets %v", seen)
		}
	}
}

// An index begins with the first search that needs it, and ends when the queue is short. Entries enter it
// when a search needs it again. After a queue was empty its slots are in order again.
func TestHysteresisAndLayout(t *testing.T) {
	h := newHistory(t, 6)
	q := &h.table.unexp
	entered := func(want uint64) {
		t.Helper()
		if n := q.seq - q.entered; q.active != 0 && n != want {
			t.Fatalf("%d of %d entries have not entered the index, want %d", n, q.n, want)
		}
	}
	const depth = 3 * scanMax
	for range 3 {
		for i := range int32(depth) {
			h.arrive(Key{1, 1, i})
			if got := h.oracle.unexp[i].node.at; got != uint32(i)+1 {
				t.Fatalf("message %d of a queue that was empty is in slot %d", i, got)
			}
		}
		for i := range int32(scanMax) {
			h.post(Key{1, 1, i}) // the oldest
			h.post(Key{1, 1, scanMax + i})
			if q.active != 0 {
				t.Fatalf("%d messages are indexed although each search has found one among the first %d", q.n, scanMax)
			}
			h.arrive(Key{1, 1, i})
			h.arrive(Key{1, 1, scanMax + i})
		}
		h.check()
		h.post(Key{1, 1, scanMax})
		entered(0)
		h.arrive(Key{1, 1, scanMax})
		h.post(Key{1, 1, 2 * scanMax}) // the oldest
		entered(1)
		h.post(Key{1, 1, scanMax})
		entered(0)
		for n := q.n; n > 0; n-- {
			if want := n > scanMin; (q.active != 0) != want {
				t.Fatalf("with %d messages, groupings %b", n, q.active)
			}
			h.post(h.oracle.unexp[n/2].node.Key)
		}
	}
	h.check()
}
