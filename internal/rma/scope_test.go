package rma

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// viewOf is a view of the window of a job of fake peers.
func viewOf(w *Window, o Options) *View {
	v := newView(w)
	w.join(v)
	v.setOptions(o)
	return v
}

// issueBy issues an operation to the peer through a view.
func issueBy(e *Engine, v *View, a operation.Op, request bool) *pending {
	o := v.operation(to(v.w), &a, uint64(a.Disp))
	p := &pending{}
	if request {
		o.Request = e.messages.NewRequest(v.w.Comm, call.Put)
		p.r = o.Request
	}
	e.link.Send(o)
	return p
}

// flushBy is a flush of a view.
func flushBy(p *originAndTarget, v *View) *link.Flushing {
	f := p.e.link.NewFlushing(p.e.messages.NewRequest(p.w.Comm, call.Rflush))
	f.Cover(&to(p.w).Target, v.number)
	f.Covered()
	return f
}

// arrived is how many bytes from the first on have arrived.
func arrived(mem []byte) int {
	if n := bytes.IndexByte(mem, 0); n >= 0 {
		return n
	}
	return len(mem)
}

// long is a put that takes many turns of its queue, in bytes.
const long = 32 * link.QueueTurn

// QV-02, QV-03, QV-41: with thread scope the flush of one view returns while most of the earlier
// put of another has not arrived; that of process scope, and of the view itself, covers all of it.
func TestQV02_FlushWaitsForItsOwnView(t *testing.T) {
	for seed := range uint64(3) {
		for _, scope := range []string{"thread", "process", "own"} {
			p := newPair(t, seed, long+8)
			a, b := viewOf(p.w, Options{Thread: scope != "process"}), viewOf(p.w, Options{Thread: scope != "process"})
			issueBy(p.e, a, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{7}, long))}, false)
			issueBy(p.e, b, operation.Op{Kind: operation.Put, Origin: mem.Of([]byte{9}), Disp: long}, false)
			v := b
			if scope == "own" {
				v = a
			}
			p.until("the flush", flushBy(p, v).Request.Done)
			n, one := arrived(p.mem[:long]), p.mem[long]
			switch {
			case scope == "thread" && (n >= long/2 || one != 9):
				t.Errorf("seed %d: thread scope: the flush is over when %d of the %d bytes of another are there, and %d of its own", seed, n, long, one)
			case scope != "thread" && n < long:
				t.Errorf("seed %d: scope %s: the flush is over when %d of %d bytes are there", seed, scope, n, long)
			case scope == "process" && one != 9:
				t.Errorf("seed %d: process scope: a byte of another view is not there", seed)
			}
		}
	}
}

// wantSettled waits for the marks of RequestFlushes, and expects all of a long put at the target
// then.
func wantSettled(t *testing.T, p *originAndTarget, tg *target) {
	t.Helper()
	p.until("all channels", tg.Flushed)
	if n := arrived(p.mem); n != long {
		t.Errorf("%d of %d bytes are there", n, long)
	}
}

// E3-14: a call that covers all operations of a target covers all channels.
func TestQV05_SettlingCoversAllChannels(t *testing.T) {
	p := newPair(t, 1, long)
	a := viewOf(p.w, Options{Thread: true})
	issueBy(p.e, a, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{7}, long))}, false)
	tg := to(p.w)
	if tg.Idle() || !tg.Numbered(0).Idle() {
		t.Fatal("a put by one channel is under way by another, or by none")
	}
	p.e.link.RequestFlushes(&tg.Target, false)
	wantSettled(t, p, tg)
}

// 12.5.4, 6.14: a flush of several channels waits until the target has everything, although another
// goroutine begins a local one meanwhile.
func TestFlushBesideALocalFlush(t *testing.T) {
	p := newPair(t, 1, long)
	a := viewOf(p.w, Options{Thread: true})
	issueBy(p.e, a, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{7}, long))}, false)
	tg := to(p.w)
	p.e.link.RequestFlushes(&tg.Target, false)
	p.e.link.RequestFlushes(&tg.Target, true)
	wantSettled(t, p, tg)
}

// QV-36: the request of a remote-completing put is complete while an earlier put through the same
// view is still under way; and that of an accumulate or compare-and-swap, unless such are before
// it.
func TestQV36_RemoteRequestsOvertake(t *testing.T) {
	for _, kind := range []operation.Kind{operation.Put, operation.Accumulate, operation.CompareAndSwap} {
		for _, before := range []operation.Kind{operation.Put, operation.Accumulate, operation.CompareAndSwap} {
			p := newPair(t, 2, long+8)
			v := viewOf(p.w, Options{Ordering: Ordered})
			x := operation.Op{Kind: before, Fn: op.Replace, Elem: op.Uint8, Origin: mem.Of(bytes.Repeat([]byte{7}, long))}
			swap := operation.Op{Kind: operation.CompareAndSwap, Elem: op.Uint8, Origin: mem.Of([]byte{5}), Compare: []byte{0}, Result: mem.Of(make([]byte, 1)), Disp: long}
			if before == operation.CompareAndSwap {
				x.Kind = operation.Put // so that it stands in the line
			}
			issueBy(p.e, v, x, false)
			a := operation.Op{Kind: kind, Done: operation.Remote, Fn: op.Sum, Elem: op.Uint8, Origin: mem.Of([]byte{9}), Disp: long}
			if kind == operation.CompareAndSwap {
				a.Fn, a.Compare, a.Result = 0, []byte{0}, mem.Of(make([]byte, 1))
			}
			want := byte(9)
			if before == operation.CompareAndSwap {
				issueBy(p.e, v, swap, false)
				switch kind {
				case operation.Accumulate:
					want = 5 + 9
				case operation.CompareAndSwap:
					a.Compare = []byte{5}
				}
			}
			q := issueBy(p.e, v, a, true)
			p.until("the request", q.r.Done)
			n, mayPass := arrived(p.mem[:long]), kind == operation.Put || before == operation.Put
			if p.mem[long] != want || q.r.Status.Err != nil {
				t.Errorf("%d after %d: the request is complete, %v, and at the target is %d, want %d", kind, before, q.r.Status.Err, p.mem[long], want)
			}
			if mayPass != (n < long/2) {
				t.Errorf("%d after %d: the request is complete when %d of the %d bytes before are there", kind, before, n, long)
			}
		}
	}
}

// The request of a flush is complete when earlier operations are complete, and does not wait for
// later ones, although a flush was under way when it was made.
func TestQV36_RflushOfWhatWasBefore(t *testing.T) {
	for _, thread := range []bool{false, true} {
		p := newPair(t, 3, long+8)
		v := viewOf(p.w, Options{Thread: thread})
		c := to(p.w).Numbered(0) // where short ones shareMain
		flush := func() *link.Flushing { return flushBy(p, v) }
		put := func(b byte, at int64, n int) {
			issueBy(p.e, v, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{b}, n)), Disp: at}, false)
		}
		put(1, long, 1)
		first := flush()
		put(2, long+1, 1)
		second := flush()
		if c.State().Asked == c.State().Wanted {
			t.Fatal("both flushes are under way")
		}
		put(7, 0, long)
		third := flush()
		p.until("two flushes", func() bool { return first.Request.Done() && second.Request.Done() })
		if n := arrived(p.mem[:long]); n > long/2 || p.mem[long] != 1 || p.mem[long+1] != 2 || third.Request.Done() {
			t.Errorf("two flushes are over when %d of %d bytes after them are there, and % x of those before", n, long, p.mem[long:])
		}
		p.until("the third", third.Request.Done)
		if n := arrived(p.mem[:long]); n != long {
			t.Errorf("the third flush is over when %d of %d bytes are there", n, long)
		}
	}
}

// QV-08: a put behind a long get does not change what is still to be read; without order it does,
// which shows that the test can fail.
func TestQV08_PutsStayBehindLongGets(t *testing.T) {
	passed := 0
	for seed := range uint64(6) {
		for _, inOrder := range []bool{true, false} {
			p := newPair(t, seed, long)
			copy(p.mem, bytes.Repeat([]byte{7}, len(p.mem)))
			v := viewOf(p.w, Options{InOrder: inOrder})
			got := make([]byte, long)
			p.g.full = true // answers find no room for a while
			q := issueBy(p.e, v, operation.Op{Kind: operation.Get, Result: mem.Of(got)}, true)
			issueBy(p.e, v, operation.Op{Kind: operation.Put, Origin: mem.Of([]byte{9}), Disp: long - 1}, false)
			p.until("the get", q.r.Done)
			switch clean := bytes.IndexByte(got, 9) < 0; {
			case inOrder && (!clean || q.r.Status.Err != nil || arrived(got) != long):
				t.Errorf("seed %d: the get has read what was put after it: %v", seed, q.r.Status.Err)
			case !clean:
				passed++
			}
		}
	}
	if passed == 0 {
		t.Error("no put has overtaken a get, with order or without")
	}
}

// The numbers of channels are reused, and bounded: views beyond share the main one.
func TestQV40_ChannelsAreBounded(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 8))
	var views []*View
	for range link.ChannelsMax {
		views = append(views, viewOf(w, Options{Thread: true}))
	}
	if n := views[len(views)-1].number; n != 0 || views[0].number != link.FirstNumber {
		t.Errorf("the last of %d views has channel %d, the first %d", len(views), n, views[0].number)
	}
	was := views[5].number
	w.drop(views[5])
	if v := viewOf(w, Options{Thread: true}); v.number != was {
		t.Errorf("a new view has channel %d, want %d, which is free", v.number, was)
	}
	deliver(e, wire.Header{Kind: wire.WinPut, Chan: link.ChannelsMax}, []byte{1})
	if len(f.lost) != 1 {
		t.Error("a frame of a channel that cannot be is taken")
	}
}

// QV-02: short puts of a view of thread scope share the main channel, also where a view of process
// scope has a long one under way, before or after; their flush does not wait for that.
func TestQV02_SharedOperationsDoNotWaitForLongPuts(t *testing.T) {
	for _, first := range []bool{false, true} {
		for seed := range uint64(3) {
			p := newPair(t, seed, long+64)
			a, b := viewOf(p.w, Options{}), viewOf(p.w, Options{Thread: true})
			huge := func() {
				issueBy(p.e, a, operation.Op{Kind: operation.Put, Origin: mem.Of(bytes.Repeat([]byte{7}, long))}, false)
			}
			if first {
				huge()
			}
			for i := range int64(32) {
				issueBy(p.e, b, operation.Op{Kind: operation.Put, Origin: mem.Of([]byte{byte(i + 1)}), Disp: long + i}, false)
				if i%8 == 5 && !first { // and what is answered, or long, goes by the view's own channel, in order
					got := make([]byte, 1)
					q := issueBy(p.e, b, operation.Op{Kind: operation.Accumulate, Fn: op.Sum, Elem: op.Uint8, Origin: mem.Of([]byte{100}),
						Result: mem.Of(got), Disp: long + i}, true)
					p.until("a fetch", q.r.Done)
					if got[0] != byte(i+1) {
						t.Fatalf("seed %d: an accumulate has overtaken the put before: %d", seed, got[0])
					}
				}
			}
			if !first {
				huge()
			}
			if x := to(p.w).Numbered(b.number).State(); !first && (x.Shared == 0 || x.Issued == 0) {
				t.Fatalf("%d operations shared the main channel, %d did not", x.Shared, x.Issued)
			}
			p.until("the flush", flushBy(p, b).Request.Done)
			if n := arrived(p.mem[:long]); n >= long/2 || p.mem[long+31] != 32 {
				t.Errorf("seed %d: the flush is over when %d of the %d bytes of another are there, and %d of its own", seed, n, long, p.mem[long+31])
			}
			p.until("all", flushBy(p, a).Request.Done)
			if n := arrived(p.mem[:long]); n != long {
				t.Errorf("seed %d: all is flushed and %d of %d bytes are there", seed, n, long)
			}
		}
	}
}
