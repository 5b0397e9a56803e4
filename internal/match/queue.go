package match

import "github.com/halo-mpi/halo/internal/planted"

// queue is an ordered collection of nodes, oldest first, searched by pattern.
//
// Entries are in a slab of slots, one cache line each, and are identified by slot
// number. Slot 0 is the anchor of the order list, a circular list through all entries
// by age. The keys are in the slots, so that a search reads no node: nodes belong to
// requests and messages, which are scattered over the heap.
//
// A search scans the order list from the oldest entry on. If none of the first scanMax
// entries matches, and there are more, the queue is also indexed, until no more than
// scanMin entries are left: entries of equal key form a group, a circular list in order
// of age, whose first entry is found by hashing (groups.go). While there is an index a
// search looks at the oldest entry, and then does a bounded number of hash look-ups.
//
//   - Posted receives form groups by their patterns. A message looks up its own
//     envelope, and its pattern in each of the other three classes (any source, any
//     tag, both) that has receives; the lowest sequence number wins.
//   - Unexpected messages form groups by envelope. Since a wildcard pattern matches
//     many envelopes, each other class has a grouping of its own, which contains every
//     message under the one pattern of the class that matches it. The first receive or
//     probe of the class builds the grouping; it is maintained until the queue is short
//     again.
//
// Entries enter the groupings when a search needs the index, in the order of age. So
// messages that arrive in the order of the receives, and receives in the order of the
// messages, cost no hash. In a queue of more than lateMax entries they enter at once:
// otherwise the first search would have to enter all of them.
//
// An entry enters each grouping once, unless it is one of the scanMin entries that are left
// when the index ends. At least scanMax-scanMin removals lie between the beginning and the
// end of an index. A grouping is built at most once in between, at a cost proportional to
// the additions before.
//
// Free slots are in a free list. When the queue is empty, slots are used from the lowest
// again, so that a queue that is filled and emptied repeatedly is laid out in order.
type queue[T any] struct {
	slots []slot[T]
	n     int    // entries
	free  uint32 // free list through next; 0 ends it
	high  uint32 // slots from here on have not been used since the queue was empty
	seq   uint64 // of the youngest entry

	// *slow has the bit filled while there are entries: see Table.Tell.
	slow   *uint32
	filled uint32
	none   uint32 // what slow points to before Tell

	// active has bit c set if grouping c is kept; 0 means that there is no index.
	// A posted queue keeps grouping 0 only, for patterns of all classes.
	active  uint8
	entered uint64 // sequence number of the youngest entry in the groupings; 0 if there is no index
	spare   int    // additions until the memory of a past peak is freed; 0: nothing to free
	count   [classes]int
	groups  [classes]groups
	hash    hasher
}

// slot is one entry.
type slot[T any] struct {
	ctx        uint64
	word       uint64 // see Key.word
	mask       uint64 // see Key.mask; a message's is exact
	node       *Node[T]
	seq        uint64
	next, prev uint32 // order list; next also serves the free list
	link       link   // in grouping 0
}

const (
	scanMax = 16  // entries that a search scans before it uses an index
	scanMin = 4   // the index of a queue that has shrunk to this ends
	lateMax = 256 // deepest queue whose entries wait for a search before they enter the index

	firstSlots = 16      // slots at the start
	keepSlots  = 8 << 10 // slots (512 KiB) that are never freed after a peak
	keepAdds   = 4 << 10 // additions to a short queue after which slots beyond keepSlots are freed
)

func (q *queue[T]) init(h hasher) {
	q.slots = make([]slot[T], firstSlots)
	q.high = 1
	q.hash = h
	q.slow = &q.none
}

// add adds n as the youngest entry.
func (q *queue[T]) add(n *Node[T], mask uint64) {
	if q.spare != 0 {
		q.spare--
		if q.spare == 0 {
			q.shrink()
		}
	}
	s := q.free
	if s != 0 {
		q.free = q.slots[s].next
	} else {
		s = q.high
		if int(s) == len(q.slots) {
			q.grow()
		}
		q.high++
	}
	q.seq++
	e, anchor := &q.slots[s], &q.slots[0]
	last := anchor.prev
	e.ctx, e.word, e.mask, e.node, e.seq = n.Ctx, n.Key.word(), mask, n, q.seq
	e.next, e.prev = 0, last
	q.slots[last].next = s
	anchor.prev = s
	n.at = s
	q.n++
	if !planted.FilledUntold {
		*q.slow |= q.filled
	}
	if q.n > lateMax {
		q.index()
	}
}

// take removes the entry in slot s and returns its node.
func (q *queue[T]) take(s uint32) *Node[T] {
	e := &q.slots[s]
	n := e.node
	if e.seq <= q.entered {
		q.leave(s)
	}
	q.slots[e.prev].next = e.next
	q.slots[e.next].prev = e.prev
	e.node = nil
	e.next = q.free
	q.free = s
	q.n--
	if q.n == 0 {
		q.free, q.high = 0, 1
		*q.slow &^= q.filled
	}
	if q.n == scanMin {
		q.short()
	}
	return n
}

// drop removes n if it is queued.
func (q *queue[T]) drop(n *Node[T]) bool {
	if int(n.at) >= len(q.slots) || q.slots[n.at].node != n {
		return false
	}
	q.take(n.at)
	return true
}

// scan returns the oldest entry that has context ctx and equals word wherever neither mask has
// a wildcard; 0 if none of the entries that a search scans matches. more says whether there are
// entries that it has not scanned.
func (q *queue[T]) scan(ctx, word, mask uint64) (found uint32, more bool) {
	slots, left := q.slots, scanMax
	s := slots[0].next
	for s != 0 {
		e := &slots[s]
		if e.ctx^ctx|(e.word^word)&e.mask&mask == 0 {
			return s, false
		}
		s = e.next
		left--
		if left == 0 || q.active != 0 {
			break
		}
	}
	return 0, s != 0
}

// oldestFor returns the oldest posted receive that a message matches, 0 if there is none.
func (q *queue[T]) oldestFor(ctx, word uint64) uint32 {
	s, more := q.scan(ctx, word, exact)
	if more {
		s = q.lookUp(ctx, word)
	}
	return s
}

// lookUp is oldestFor by the index.
func (q *queue[T]) lookUp(ctx, word uint64) uint32 {
	if q.entered != q.seq {
		q.index()
	}
	best, bestSeq := uint32(0), ^uint64(0)
	for c := range q.count {
		if q.count[c] == 0 {
			continue
		}
		s := q.find(0, ctx, masked(word, maskOf(c)), exact)
		if s != 0 && q.slots[s].seq < bestSeq {
			best, bestSeq = s, q.slots[s].seq
		}
	}
	return best
}

// oldestLike returns the oldest message that a pattern matches, 0 if there is none.
func (q *queue[T]) oldestLike(ctx, word, mask uint64) uint32 {
	s, more := q.scan(ctx, word, mask)
	if !more {
		return s
	}
	if q.entered != q.seq {
		q.index()
	}
	c := classOf(mask)
	if q.active&(1<<c) == 0 {
		q.build(c)
	}
	return q.find(c, ctx, word, mask)
}

// all yields the nodes in order.
func (q *queue[T]) all(yield func(*Node[T]) bool) {
	for s := q.slots[0].next; s != 0; {
		next := q.slots[s].next
		if !yield(q.slots[s].node) {
			return
		}
		s = next
	}
}

// same yields the nodes of one envelope in order.
func (q *queue[T]) same(ctx, word uint64, yield func(*Node[T]) bool) {
	if q.active == 0 && q.n <= scanMax {
		for s := q.slots[0].next; s != 0; s = q.slots[s].next {
			if e := &q.slots[s]; e.ctx == ctx && e.word == word && !yield(e.node) {
				return
			}
		}
		return
	}
	q.index()
	first := q.find(0, ctx, word, exact)
	for s := first; s != 0; {
		if !yield(q.slots[s].node) {
			return
		}
		s = q.slots[s].link.next
		if s == first {
			return
		}
	}
}

// grow doubles the slab.
func (q *queue[T]) grow() {
	slots := make([]slot[T], 2*len(q.slots))
	copy(slots, q.slots)
	q.slots = slots
	for c := 1; c < classes; c++ {
		if q.active&(1<<c) != 0 {
			q.groups[c].extend(len(slots))
		}
	}
}

// short ends the index of a queue that has become short. Tables keep their size: a queue that
// was deep will probably be deep again, and unused buckets cost no time.
func (q *queue[T]) short() {
	if q.active != 0 {
		q.unindex()
	}
	if len(q.slots) > keepSlots && q.spare == 0 {
		q.spare = keepAdds
	}
}

// shrink moves the entries to a small slab, and frees the memory of the peak. A queue that is
// deep again keeps it.
func (q *queue[T]) shrink() {
	if q.n > scanMax {
		return
	}
	old := q.slots
	q.slots = make([]slot[T], firstSlots)
	q.groups = [classes]groups{}
	q.n, q.free, q.high = 0, 0, 1
	for s := old[0].next; s != 0; s = old[s].next {
		q.add(old[s].node, old[s].mask)
	}
}
