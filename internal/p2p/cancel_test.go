package p2p

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// P2P-15: a peer takes back its own unexpected messages, each once, and nobody else's.
func TestP2P15_RevokeTakesTheNamedMessage(t *testing.T) {
	e, c, _ := alone(t)
	for _, h := range []wire.Header{
		{Kind: wire.Eager, Ctx: c.Ctx, Tag: 3, Arg: 1},
		{Kind: wire.Eager, Ctx: c.Ctx, Tag: 3, Arg: 2},
		{Kind: wire.Eager, Ctx: c.Ctx, Tag: 3}, // has no number
		{Kind: wire.EagerSync, Ctx: c.Ctx, Tag: 3, Name: 9},
		{Kind: wire.Ready, Ctx: c.Ctx, Tag: 3, Name: 8, Arg: 1000},
	} {
		e.Frame(1, &h, nil)
	}
	left := func(want int) {
		t.Helper()
		if n := e.table.Unexpected(); n != want {
			t.Fatalf("%d messages are left, want %d", n, want)
		}
		e.checkCounts(t, 1, creditMax, nil, nil)
	}
	left(5)
	for _, h := range []wire.Header{{Arg: 0}, {Arg: 3}, {Arg: 8}, {Flags: wire.Announced, Arg: 1}, {Flags: wire.Announced}, {Tag: 1, Arg: 1}} {
		h.Kind, h.Ctx, h.Tag, h.Name = wire.Revoke, c.Ctx, h.Tag^3, 1
		e.Frame(1, &h, nil)
	}
	e.Frame(2, &wire.Header{Kind: wire.Revoke, Ctx: c.Ctx, Tag: 3, Arg: 1, Name: 1}, nil)
	left(5)
	for i, h := range []wire.Header{{Arg: 2}, {Arg: 1}, {Flags: wire.Announced, Arg: 8}, {Flags: wire.Announced, Arg: 9}} {
		for range 2 {
			h.Kind, h.Ctx, h.Tag, h.Name = wire.Revoke, c.Ctx, 3, 1
			e.Frame(1, &h, nil)
			left(4 - i)
		}
	}
}

// S6: a peer that sends Revoke and does not accept the answers is taken down. Answers to no
// question, and impossible answers, change nothing.
func TestP2P15_RevokeIsBounded(t *testing.T) {
	e, c, w := alone(t)
	r := e.isend(c, c.Ctx, Synchronous, make([]byte, 8), 1, 0)
	e.Cancel(r)
	v := e.handles.Find(e.handleInPhase(phaseRevoke))
	for _, h := range []wire.Header{{Name: r.handle, Arg: 1}, {Name: 77, Arg: 1}} {
		h.Kind = wire.Revoked
		e.Frame(1, &h, nil)
	}
	e.Frame(2, &wire.Header{Kind: wire.Revoked, Name: v.handle, Arg: 1}, nil)
	if r.Done() || r.Status.Cancelled {
		t.Fatal("a send was cancelled by an answer to another question")
	}
	name := v.handle
	e.Frame(1, &wire.Header{Kind: wire.Ack, Name: r.handle}, nil)
	if r.Done() {
		t.Fatal("a send is complete before it is known whether it was cancelled")
	}
	for range 2 { // the message was received: it cannot have been taken back
		e.Frame(1, &wire.Header{Kind: wire.Revoked, Name: name, Arg: 1}, nil)
		if !r.Done() || r.Status.Cancelled {
			t.Fatalf("done %t, cancelled %t", r.Done(), r.Status.Cancelled)
		}
	}
	w.full = true
	for i := range openRevokesMax + 2 {
		e.Frame(2, &wire.Header{Kind: wire.Revoke, Name: uint64(i + 1)}, nil)
		if len(w.lost) > 0 != (i > openRevokesMax) {
			t.Fatalf("after %d questions %v are taken down", i+1, w.lost)
		}
	}
	if !slices.Equal(w.lost, []int{2}) {
		t.Fatalf("%v are taken down", w.lost)
	}
}

// handleInPhase is the handle of the first request in a phase.
func (e *Engine) handleInPhase(p phase) uint64 {
	for i := range e.handles.slots {
		if r := e.handles.slots[i].value; r != nil && r.phase == p {
			return r.handle
		}
	}
	return 0
}
