package rma

import (
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// withNotice is a frame with a notification.
func withNotice(h wire.Header, counter int) wire.Header {
	h.Flags |= wire.ThenNotify
	h.SetCounter(counter)
	return h
}

// counted expects a counter to be n.
func counted(t *testing.T, w *Window, i int, n int64) {
	t.Helper()
	v := newView(w)
	if got, err := v.CounterValue(i); got != n || err != nil {
		t.Fatalf("counter %d is %d, %v, want %d", i, got, err, n)
	}
}

// A refused operation notifies nobody, whichever of its frames is refused; the notifications of
// others count (S5).
func TestS5_QV38_RefusedOperationsNotifyNobody(t *testing.T) {
	mem, all := guarded(1000)
	e, w, f := withFakePeers(t, Created, mem)
	beyond := uint64(len(mem) - 4)
	for _, h := range []wire.Header{
		{Kind: wire.WinPut, Arg: beyond},
		{Kind: wire.WinPut, Arg: math.MaxUint64 - 3},
		{Kind: wire.WinAcc, Arg: beyond, Aux: aux(op.Sum, op.Int64)},
		{Kind: wire.WinAcc, Arg: beyond, Aux: aux(op.Sum, op.Int64), Flags: wire.WithResult, Name: 7},
	} {
		deliver(e, withNotice(h, 9), make([]byte, 8))
		if x := faultOf(t, f, h.Name); x.Class != class.RMARange {
			t.Errorf("kind %d: class %v", h.Kind, x.Class)
		}
	}
	deliver(e, withNotice(wire.Header{Kind: wire.WinGet, Arg: beyond, Name: 7}, 9), length(8))
	faultOf(t, f, 7)
	deliver(e, withNotice(wire.Header{Kind: wire.WinCas, Arg: beyond, Name: 7, Aux: aux(0, op.Int64)}, 9), make([]byte, 16))
	faultOf(t, f, 7)
	r := operation.Runs{Off: int64(beyond), Length: 8, Stride: 8, Count: 1}
	deliver(e, withNotice(wire.Header{Kind: wire.WinGet, Tag: 1, Name: 7}, 9), withRuns(0, r))
	faultOf(t, f, 7)
	counted(t, w, 9, 0)
	untouched(t, all)

	// The first frame of two is refused: the second is done, and notifies nobody. The
	// operation after that does.
	deliver(e, wire.Header{Kind: wire.WinPut, Flags: wire.Notifies, Arg: beyond}, make([]byte, 8))
	faultOf(t, f, 0)
	deliver(e, withNotice(wire.Header{Kind: wire.WinPut, Arg: 8}, 9), make([]byte, 8))
	counted(t, w, 9, 0)
	deliver(e, withNotice(wire.Header{Kind: wire.WinPut, Arg: 8}, 9), make([]byte, 8))
	counted(t, w, 9, 1)
	// So it is of a window with channels: each has operations of its own.
	deliver(e, wire.Header{Kind: wire.WinPut, Flags: wire.Notifies, Arg: beyond, Chan: 3}, make([]byte, 8))
	faultOf(t, f, 0)
	deliver(e, withNotice(wire.Header{Kind: wire.WinPut, Arg: 8}, 9), make([]byte, 8))
	counted(t, w, 9, 2)
	deliver(e, withNotice(wire.Header{Kind: wire.WinPut, Arg: 8, Chan: 3}, 9), make([]byte, 8))
	counted(t, w, 9, 2)
	if _, _, n := w.incoming.Kept(); n != 0 {
		t.Errorf("%d operations are still broken", n)
	}
	if e.link.Refused(enemy) {
		t.Error("a peer whose program has errors was taken down")
	}
}

// Notifications name a counter by 16 bits, for each value of which there is a counter: none
// accesses memory of the window, and all together take the documented memory.
func TestS6_QV38_EveryCounterCanBeNamed(t *testing.T) {
	mem, all := guarded(100)
	e, w, f := withFakePeers(t, Created, mem)
	for i := range shmfmt.CountersMax {
		h := wire.Header{Kind: wire.WinNotify}
		h.SetCounter(i)
		deliver(e, h, nil)
	}
	size := 0
	for chunk := range w.counters {
		size += 64 * len(*w.counters[chunk].Load())
	}
	if size != shmfmt.CountersMax*64 {
		t.Errorf("all counters take %d bytes, want 64 each", size)
	}
	for i := range shmfmt.CountersMax {
		if n := w.counter(i).Value(); n != 1 {
			t.Errorf("counter %d is %d, want 1", i, n)
		}
	}
	if sent := f.take(); len(sent) != 0 || e.link.Refused(enemy) {
		t.Errorf("%d frames were answered", len(sent))
	}
	untouched(t, all)
	// A peer that sends what none can is taken down, and has notified nobody.
	deliver(e, withNotice(wire.Header{Kind: wire.WinPut, Tag: operation.RunsMax + 1}, 5), make([]byte, 64))
	counted(t, w, 5, 1)
	if !e.link.Refused(enemy) {
		t.Errorf("%d runs were taken", operation.RunsMax+1)
	}
}

// A long get notifies when its last piece is sent, and an end of an epoch behind it comes after
// that.
func TestQV38_LongGetNotifiesAtItsEnd(t *testing.T) {
	mem := make([]byte, 40*512)
	e, w, f := withFakePeers(t, Created, mem)
	f.full = true // nothing goes
	deliver(e, withNotice(wire.Header{Kind: wire.WinGet, Name: 7}, 2), length(uint64(len(mem))))
	counted(t, w, 2, 0)
	for range 100 {
		f.full = false
		e.p.Progress(-1) // the backlog
		e.Work()
		got := 0
		for _, x := range f.sent {
			got += len(x.payload)
		}
		v := newView(w)
		n, _ := v.CounterValue(2)
		if (n == 1) != (got == len(mem)) {
			t.Fatalf("counter %d after %d bytes of %d", n, got, len(mem))
		}
		if n == 1 {
			return
		}
	}
	t.Error("the get never ends")
}
