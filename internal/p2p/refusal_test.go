package p2p

import (
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/wire"
)

// ERR-04: messages of a collective that this process has refused are discarded, those that are there
// and those that come, and their senders get answers and credit. Others stay.
func TestERR04_MessagesOfRefusedCollectives(t *testing.T) {
	e, c, w := alone(t)
	arrive := func(tag int32) {
		for _, h := range []wire.Header{
			{Kind: wire.Eager, Arg: 1},
			{Kind: wire.EagerSync, Name: 9},
			{Kind: wire.Ready, Name: 8, Arg: 1000},
		} {
			h.Ctx, h.Tag = c.Ctx+1, tag
			e.Frame(1, &h, nil)
		}
		long := wire.Header{Kind: wire.Eager, Ctx: c.Ctx + 1, Tag: tag, Size: 100, Arg: 2}
		if b := e.Place(1, &long); len(b) != 100 {
			t.Fatalf("room for %d bytes of a message of 100", len(b))
		}
		e.Placed(1, &long)
	}
	left := func(want int) {
		t.Helper()
		if n := e.table.Unexpected(); n != want {
			t.Fatalf("%d messages are left, want %d", n, want)
		}
		e.checkCounts(t, 1, creditMax, nil, nil)
	}
	arrive(3)
	arrive(4)
	left(8)
	before := w.sent
	e.Shun(c.Ctx+1, 3)
	left(4)
	arrive(3)
	left(4)
	if answers := w.sent - before; answers != 4 {
		t.Errorf("%d answers, want 2 for the messages that were there and 2 for the later ones", answers)
	}
	for tag := range int32(shunsMax) { // the oldest is forgotten
		e.Shun(c.Ctx+1, 100+tag)
	}
	arrive(3)
	left(8)
}

// A message that says that a member refuses a collective goes to whoever has asked for it, unless a
// receive is posted. What is kept is dropped with its collective.
func TestERR04_RefusalsArrive(t *testing.T) {
	e, c, _ := alone(t)
	var got []Refusal
	wanted := true
	e.OnRefusal(func(from int32, ctx uint64, tag int32, f *Refusal) bool {
		if from != 1 || ctx != c.Ctx+1 {
			t.Errorf("a refusal from %d on %#x", from, ctx)
		}
		got = append(got, *f)
		return wanted
	})
	sent := Refusal{Rank: 1, Class: class.Truncate, Own: true}
	v := Envelope{Roots: 77}
	v.Refuse(&sent)
	refuse := func(tag int32) {
		e.Frame(1, &wire.Header{Kind: wire.Eager, Ctx: c.Ctx + 1, Tag: tag, Aux: v.aux()}, nil)
	}
	refuse(3)
	wanted = false
	refuse(3)
	refuse(4)
	if len(got) != 3 || got[0] != sent || e.table.Unexpected() != 2 {
		t.Fatalf("told %v, %d messages are kept", got, e.table.Unexpected())
	}
	r := e.irecv(c, c.Ctx+1, make([]byte, 100), 1, 4)
	if f, told := r.Status.Err.(*Refusal); !r.Done() || !told || *f != sent {
		t.Errorf("a receive gets %v", r.Status.Err)
	}
	e.DropRefusals(c.Ctx+1, 4)
	if e.table.Unexpected() != 1 {
		t.Error("a refusal of another collective is dropped")
	}
	e.DropRefusals(c.Ctx+1, 3)
	if e.table.Unexpected() != 0 || e.refusals {
		t.Error("a refusal is kept when its collective has ended")
	}
	e.checkCounts(t, 1, creditMax, nil, nil)
	r = e.irecv(c, c.Ctx, nil, 1, 5) // a message of the program has no such meaning
	e.Frame(1, &wire.Header{Kind: wire.Eager, Ctx: c.Ctx, Tag: 5, Aux: v.aux()}, nil)
	if !r.Done() || r.Status.Err != nil {
		t.Errorf("a message of the program: %v", r.Status.Err)
	}
}
