package match

import (
	"slices"
	"testing"
)

// owner stands for a request or message of the layer above.
type owner struct {
	node Node[owner]
	id   int
}

// oracle is the simplest implementation of the standard's rule: two lists, searched in order.
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
	left   *owner   // the owner that has left a queue last, and must not be found there
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

// release records that o has left its queue; the owner released before it may be reused.
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

// mprobe probes and removes the message that it finds.
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

// gone checks that an owner that has left the table is not found in it.
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

// check compares table and oracle completely and checks the invariants of the table.
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

// cancelAll empties both queues with the iterators.
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
