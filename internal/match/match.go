package match

import (
	"iter"
	"math"
)

const (
	// AnySource as the Src of a receive or probe matches every source.
	AnySource int32 = -1
	// AnyTag as the Tag of a receive or probe matches every tag. No message
	// carries it, so all other values are free for internal contexts.
	AnyTag int32 = math.MinInt32
)

// Key is an envelope, or the pattern of envelopes that a receive or probe takes.
type Key struct {
	Ctx uint64 // context id; never a wildcard
	Src int32  // index of the sending process in the job, or AnySource
	Tag int32  // or AnyTag
}

// Node is one entry of a queue, embedded by its owner: a posted receive or an
// unexpected message. Key and Owner must not change while it is queued. The
// zero Node is not queued, and a Node may be queued again once it has left.
type Node[T any] struct {
	Key
	Owner *T
	at    uint32 // slot it was last queued in; it is queued if that slot points to this node
}

// Table holds the posted receives, owned by Rs, and the unexpected messages,
// owned by Ms, of one process. A receive and a message that match are never
// both in it.
type Table[R, M any] struct {
	posted queue[R]
	unexp  queue[M]
}

// New returns an empty table. The seed keys its hash: it must be random and
// unknown to peers, since they choose tags and could otherwise force collisions.
func New[R, M any](seed uint64) *Table[R, M] {
	t := &Table[R, M]{}
	h := newHasher(seed)
	t.posted.init(h)
	t.unexp.init(h)
	return t
}

// Tell makes the table keep two bits of *slow: posted is set while receives are queued, and unexpected
// while messages are. The table is empty.
func (t *Table[R, M]) Tell(slow *uint32, posted, unexpected uint32) {
	t.posted.slow, t.posted.filled = slow, posted
	t.unexp.slow, t.unexp.filled = slow, unexpected
}

// Post removes and returns the oldest unexpected message that r matches. If
// there is none, Post queues r and returns nil.
func (t *Table[R, M]) Post(r *Node[R]) *Node[M] {
	mask := r.Key.mask()
	if t.unexp.n != 0 {
		if s := t.unexp.oldestLike(r.Ctx, r.Key.word(), mask); s != 0 {
			return t.unexp.take(s)
		}
	}
	t.posted.add(r, mask)
	return nil
}

// Arrive removes and returns the oldest posted receive that matches the
// envelope k, or returns nil: then the caller queues the message with Add
// before any other call to the table.
func (t *Table[R, M]) Arrive(k Key) *Node[R] {
	if t.posted.n == 0 {
		return nil
	}
	s, word := t.posted.slots[0].next, k.word() // mostly messages arrive in the order of the receives
	if e := &t.posted.slots[s]; e.ctx^k.Ctx|(e.word^word)&e.mask != 0 {
		s = t.posted.oldestFor(k.Ctx, word)
		if s == 0 {
			return nil
		}
	}
	return t.posted.take(s)
}

// Add queues m as the youngest unexpected message. The caller must have just got
// nil from Arrive(m.Key).
func (t *Table[R, M]) Add(m *Node[M]) { t.unexp.add(m, exact) }

// Probe returns the message that a receive of pattern k would take, leaving it
// queued, or nil.
func (t *Table[R, M]) Probe(k Key) *Node[M] {
	if t.unexp.n == 0 {
		return nil
	}
	if s := t.unexp.oldestLike(k.Ctx, k.word(), k.mask()); s != 0 {
		return t.unexp.slots[s].node
	}
	return nil
}

// Remove takes m out of the unexpected messages (matched probe) and reports
// whether it was there.
func (t *Table[R, M]) Remove(m *Node[M]) bool { return t.unexp.drop(m) }

// Cancel takes r out of the posted receives and reports whether it was there;
// if not it has been matched.
func (t *Table[R, M]) Cancel(r *Node[R]) bool { return t.posted.drop(r) }

// PurgeContext removes all unexpected messages of context ctx, oldest first,
// and hands each to f.
func (t *Table[R, M]) PurgeContext(ctx uint64, f func(*M)) {
	all := Key{ctx, AnySource, AnyTag}
	for m := t.Probe(all); m != nil; m = t.Probe(all) {
		t.Remove(m)
		f(m.Owner)
	}
}

// Same yields the unexpected messages of envelope k, oldest first. A loop that changes the
// table must end there.
func (t *Table[R, M]) Same(k Key) iter.Seq[*Node[M]] {
	return func(yield func(*Node[M]) bool) { t.unexp.same(k.Ctx, k.word(), yield) }
}

// Posted is the number of receives queued.
func (t *Table[R, M]) Posted() int { return t.posted.n }

// Unexpected is the number of messages queued.
func (t *Table[R, M]) Unexpected() int { return t.unexp.n }

// Receives yields the posted receives, oldest first. The loop may cancel the
// receive it was just given and change nothing else.
func (t *Table[R, M]) Receives() iter.Seq[*Node[R]] { return t.posted.all }

// Messages yields the unexpected messages, oldest first. The loop may remove
// the message it was just given and change nothing else.
func (t *Table[R, M]) Messages() iter.Seq[*Node[M]] { return t.unexp.all }
