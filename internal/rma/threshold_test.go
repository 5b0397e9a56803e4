package rma

import (
	"errors"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
)

// awaitIn starts a request of a Threshold with the lock held.
func awaitIn(e *Engine, w *Window, s Threshold) *threshold {
	x := &threshold{Threshold: s, w: w, counter: w.counter(s.Counter), request: e.messages.NewRequest(w.Comm, s.Call), persistent: true}
	x.Begin()
	return x
}

// A process that sleeps until a counter has a value says which counter, its value, and the value
// that it waits for (F6).
func TestF6_QV38_WaitForACounterIsExplained(t *testing.T) {
	e, w, _ := withFakePeers(t, Created, make([]byte, 8))
	x := awaitIn(e, w, Threshold{Call: call.WinWaitNotify, Counter: 300, Reach: 8, Take: 8})
	for range 5 {
		w.countHere(300)
	}
	if text := string(x.request.About.AppendAbout(nil)); text != "WaitNotify, counter 300 at 5 of 8" {
		t.Errorf("it waits for %q", text)
	}
	for range 3 {
		w.countHere(300)
	}
	if !x.request.Done() || x.counter.Value() != 0 || len(e.awaited) != 0 {
		t.Errorf("done %v, counter at %d, %d wait", x.request.Done(), x.counter.Value(), len(e.awaited))
	}
	if text := string(x.request.About.AppendAbout(nil)); text != "WaitNotify" {
		t.Errorf("what was waited for is %q afterwards", text)
	}
}

// Requests for one counter are served in the order in which they began, and each takes its amount;
// the wanted value of a counter is always the least value for which a request waits.
func TestQV38_ThresholdsShareACounter(t *testing.T) {
	e, w, _ := withFakePeers(t, Created, make([]byte, 8))
	c := w.counter(1)
	wants := func(want int64) {
		t.Helper()
		if got := c.Wanted(); got != want {
			t.Fatalf("rings from %d on, want %d", got, want)
		}
	}
	wants(math.MaxInt64)
	five := awaitIn(e, w, Threshold{Counter: 1, Reach: 5, Take: 5})
	wants(5)
	two := awaitIn(e, w, Threshold{Counter: 1, Reach: 2, Take: 2})
	wants(2)
	other := awaitIn(e, w, Threshold{Counter: 2, Reach: 1})
	wants(2)
	w.countHere(1)
	w.countHere(1)
	wants(5)
	if !two.request.Done() || five.request.Done() || c.Value() != 0 {
		t.Fatalf("two %v, five %v, at %d", two.request.Done(), five.request.Done(), c.Value())
	}
	two = awaitIn(e, w, Threshold{Counter: 1, Reach: 6, Take: 2})
	c.Add(5) // by somebody on the node, who rings; a poll finds it
	if e.workCounters() != 1 || !five.request.Done() || two.request.Done() || c.Value() != 0 {
		t.Fatalf("two %v, five %v, at %d", two.request.Done(), five.request.Done(), c.Value())
	}
	wants(6)
	e.CancelAwait(two.request)
	wants(math.MaxInt64)
	if !two.request.Done() || !two.request.Status.Cancelled || c.Waiters != 0 {
		t.Errorf("%+v, %d wait", two.request.Status, c.Waiters)
	}
	if other.request.Done() || len(e.awaited) != 1 {
		t.Errorf("%d wait", len(e.awaited))
	}
}

// An error of the hook of a Threshold is the result of its request: it does not wait.
func TestSYN27_HookOfAThreshold(t *testing.T) {
	e, w, _ := withFakePeers(t, Created, make([]byte, 8))
	refused := errors.New("refused")
	w.counter(4).Set(3)
	x := awaitIn(e, w, Threshold{Counter: 4, Reach: 1, Take: 1, Begin: func(value int64) error {
		if value != 3 {
			t.Errorf("begins at %d", value)
		}
		return refused
	}})
	if !x.request.Done() || x.request.Status.Err != refused || w.counter(4).Value() != 3 || len(e.awaited) != 0 {
		t.Errorf("%v, counter at %d", x.request.Status.Err, w.counter(4).Value())
	}
}

// When all other members have died, requests that wait end with that error, but for those whose
// notification has come before (F1).
func TestF1_QV38_NobodyIsLeftToNotify(t *testing.T) {
	e, w, f := withFakePeers(t, Created, make([]byte, 8))
	a := awaitIn(e, w, Threshold{Call: call.WinWaitNotify, Counter: 1, Reach: 1, Take: 1})
	b := awaitIn(e, w, Threshold{Call: call.WinWaitNotify, Counter: 2, Reach: 1, Take: 1})
	w.counter(1).Add(1) // in memory, and nobody has looked
	f.down(e, enemy)
	if !a.request.Done() || a.request.Status.Err != nil {
		t.Errorf("done %v, %v", a.request.Done(), a.request.Status.Err)
	}
	if !b.request.Done() {
		t.Fatal("it waits for the dead")
	}
	failedWith(t, b.request.Status.Err, class.ProcFailed)
	c := awaitIn(e, w, Threshold{Call: call.WinWaitNotify, Counter: 2, Reach: 1, Take: 1})
	failedWith(t, c.request.Status.Err, class.ProcFailed)
	w.counter(3).Add(1)
	d := awaitIn(e, w, Threshold{Call: call.WinWaitNotify, Counter: 3, Reach: 1, Take: 1})
	if !d.request.Done() || d.request.Status.Err != nil {
		t.Errorf("done %v, %v", d.request.Done(), d.request.Status.Err)
	}
}
