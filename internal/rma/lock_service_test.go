package rma

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/node/store"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// remotelyLocked is a window of a process whose peers, all of them members, are the test. The
// engine's lock is held until the test ends.
func remotelyLocked(t *testing.T, peers int) (*Engine, *Window, *fakeFabric) {
	t.Helper()
	f := &fakeFabric{}
	p, err := proc.New(boot.Memory(1 + peers)[0], nil, f, proc.Policy{Yield: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	messages := p2p.New(p)
	e := New(p, messages, coll.New(p, messages, choice.Defaults()), store.New(nil))
	members := make([]int32, 1+peers)
	for i := range members {
		members[i] = int32(i)
	}
	w := e.newWindow(comm.New(p, window, 0, members), window, Allocated)
	page, _, err := w.newPage(shmfmt.WindowSize(1))
	if err == nil {
		w.control, err = shmfmt.FormatWindow(page, w.id, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.windows[w.id] = w
	p.Lock()
	t.Cleanup(p.Unlock)
	return e, w, f
}

// targetElsewhere is rank 1 of remotelyLocked as a target, whose memory is on another node.
func targetElsewhere(t *testing.T, w *Window) *target {
	t.Helper()
	all := make([]byte, len(w.targets)*entrySize)
	for r := range w.targets {
		x := entry{unit: 1, where: nowhere, control: nowhere}
		x.encode(all[r*entrySize:])
	}
	w.table = newTable(all)
	to, err := w.targetLocked(1)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// grants are the processes that were told that they have the lock, each with the dead process that
// was named; -1: none.
func grants(f *fakeFabric) (list [][2]int) {
	for _, s := range f.take() {
		if s.h.Kind == wire.WinGrant {
			of := -1
			if s.h.Aux != 0 {
				of = int(s.h.Arg)
			}
			list = append(list, [2]int{s.to, of})
		}
	}
	return list
}

func expectGrants(t *testing.T, f *fakeFabric, when string, want ...[2]int) {
	t.Helper()
	if got := grants(f); !slices.Equal(got, want) {
		t.Errorf("%s: granted %v, want %v", when, got, want)
	}
}

// RW-09: origins on other nodes get the lock in the order in which they asked, shared ones
// together; later ones do not pass one that waits for an exclusive lock.
func TestRW09_ServiceGrantsInOrder(t *testing.T) {
	_, w, f := remotelyLocked(t, 8)
	ask := func(from int32, exclusive bool) {
		if !w.lockAsked(from, exclusive) {
			t.Fatalf("the request of %d is refused", from)
		}
	}
	back := func(from int32) {
		if !w.unlockAsked(from) {
			t.Fatalf("the lock of %d is not taken back", from)
		}
	}
	none := -1
	ask(1, true)
	expectGrants(t, f, "free", [2]int{1, none})
	ask(2, false)
	ask(3, false)
	ask(4, true)
	ask(5, false)
	expectGrants(t, f, "taken")
	back(1)
	expectGrants(t, f, "two readers are next", [2]int{2, none}, [2]int{3, none})
	ask(6, false)
	expectGrants(t, f, "a writer waits")
	back(2)
	expectGrants(t, f, "a reader is left")
	back(3)
	expectGrants(t, f, "the writer is next", [2]int{4, none})
	back(4)
	expectGrants(t, f, "two readers", [2]int{5, none}, [2]int{6, none})
	ask(7, false)
	expectGrants(t, f, "nobody waits for more", [2]int{7, none})
	// A process of the node wants it exclusively.
	l := w.control.Lock()
	l.Claim(0, true, func(int) {})
	ask(8, false)
	expectGrants(t, f, "a writer of the node waits")
	back(5)
	back(6)
	back(7)
	expectGrants(t, f, "the writer of the node is next")
	if l.Look(0, w.e.deadLocals) != shmfmt.LockFree {
		t.Error("the writer of the node has not got it")
	}
	l.Hold(0)
	l.Release(0, w.e.deadLocals, func(c int) {
		if c != l.Service() {
			t.Errorf("claimant %d is rung", c)
		}
		w.serve()
	})
	expectGrants(t, f, "then the reader", [2]int{8, none})
	back(8)
	if len(w.e.serving) != 0 || l.Contended(0, w.e.deadLocals) {
		t.Error("the service still waits")
	}
	// S6: what no correct process sends.
	if w.unlockAsked(8) || w.lockAsked(99, true) || w.lockAsked(0, true) {
		t.Error("a lock is given back, or asked for, by nobody")
	}
	ask(1, true)
	if w.lockAsked(1, true) {
		t.Error("the lock is asked for twice")
	}
	ask(2, false)
	if w.lockAsked(2, false) {
		t.Error("the lock is asked for twice")
	}
}

// F3: an origin on another node dies with the lock: the next is told once, and is granted the lock
// when it asks again. One that dies while it waits is forgotten.
func TestF3_ServiceTellsTheNext(t *testing.T) {
	e, w, f := remotelyLocked(t, 5)
	for from := int32(1); from <= 4; from++ {
		w.lockAsked(from, from != 3)
	}
	expectGrants(t, f, "first", [2]int{1, -1})
	die := func(process int) {
		f.down(e, process)
		e.Work()
	}
	die(2)
	expectGrants(t, f, "one who waits has died")
	die(1)
	expectGrants(t, f, "the holder has died", [2]int{3, 1}, [2]int{4, -1})
	w.lockAsked(3, false)
	w.unlockAsked(4)
	expectGrants(t, f, "asked again", [2]int{3, -1})
	w.unlockAsked(3)
	// The next is of the node.
	w.lockAsked(4, true)
	die(4)
	l := w.control.Lock()
	l.Claim(0, true, func(int) {})
	if l.Look(0, e.deadLocals) != shmfmt.LockFree {
		t.Fatal("the lock of the dead is held")
	}
	if _, far := l.ReapDead(e.deadLocals); far != 4 {
		t.Errorf("told of %d, want 4", far)
	}
	if len(e.serving) != 0 {
		t.Error("the service still waits")
	}
}

// Random requests, releases and deaths, against a model: conflicting holders are never together, of
// two conflicting requests the earlier is granted first, all are granted in the end, and of each
// process that died with the lock one holder is told.
func TestF3_ServiceHistories(t *testing.T) {
	const peers = 6
	for seed := range uint64(500) {
		func() {
			g := rand.New(rand.NewPCG(seed, 5))
			e, w, f := remotelyLocked(t, peers)
			e.p.Unlock()
			defer e.p.Lock() // for the cleanup
			e.p.Lock()
			defer e.p.Unlock()
			waits, holds := map[int]bool{}, map[int]bool{} // exclusive
			dead := map[int]bool{}
			var order []int
			var deaths, told int
			settle := func() {
				e.Work()
				for _, x := range grants(f) {
					p := x[0]
					exclusive, ok := waits[p]
					if !ok {
						t.Fatalf("seed %d: %d is answered unasked", seed, p)
					}
					delete(waits, p)
					for _, o := range order[:slices.Index(order, p)] {
						if exclusive || waits[o] {
							t.Fatalf("seed %d: %d overtakes %d", seed, p, o)
						}
					}
					order = slices.DeleteFunc(order, func(o int) bool { return o == p })
					if x[1] >= 0 {
						told++
						if !dead[x[1]] {
							t.Fatalf("seed %d: told of %d, who lives", seed, x[1])
						}
						continue
					}
					for o, other := range holds {
						if exclusive || other {
							t.Fatalf("seed %d: %d and %d have the lock", seed, o, p)
						}
					}
					holds[p] = exclusive
				}
			}
			for range 60 {
				p := 1 + g.IntN(peers)
				switch _, has := holds[p]; {
				case dead[p]:
				case g.IntN(40) == 0:
					dead[p] = true
					if has && told == deaths { // of several dead at a time one is told
						deaths++
					}
					delete(holds, p)
					delete(waits, p)
					order = slices.DeleteFunc(order, func(o int) bool { return o == p })
					f.down(e, p)
				case has:
					w.unlockAsked(int32(p))
					delete(holds, p)
				case !slices.Contains(order, p):
					waits[p] = g.IntN(2) == 0
					order = append(order, p)
					if !w.lockAsked(int32(p), waits[p]) {
						t.Fatalf("seed %d: %d is refused", seed, p)
					}
				}
				settle()
			}
			for len(holds) > 0 {
				for p := range holds {
					delete(holds, p)
					w.unlockAsked(int32(p))
					settle()
				}
			}
			if len(order) > 0 || len(e.serving) > 0 {
				t.Fatalf("seed %d: %v wait for ever", seed, order)
			}
			l := w.control.Lock()
			l.Claim(0, true, func(int) {})
			if l.Look(0, e.deadLocals) != shmfmt.LockFree {
				t.Fatalf("seed %d: the lock is not free", seed)
			}
			if _, far := l.ReapDead(e.deadLocals); far >= 0 {
				told++
			}
			if told != deaths {
				t.Fatalf("seed %d: %d died with the lock, %d were told of", seed, deaths, told)
			}
		}()
	}
}

// F6: a waiter says in which call it waits, on which window, and for which rank.
func TestF6_WaiterSaysForWhom(t *testing.T) {
	e, w, _ := remotelyLocked(t, 2)
	name := "board"
	w.Comm.Name.Store(&name)
	x := w.waiter(call.WinLock, &target{Target: link.Target{Rank: 2}})
	if got := string(x.AppendAbout([]byte("> "))); got != "> Lock on board, rank 2" {
		t.Errorf("%q", got)
	}
	e.freeWaiter(x)
	if y := w.waiter(call.WinFlushAll, nil); y != x || string(y.AppendAbout(nil)) != "FlushAll on board" {
		t.Errorf("%q", y.AppendAbout(nil))
	}
}

// S5, S6: answers without a request are refused.
func TestS6_GrantsThatNobodyAskedFor(t *testing.T) {
	e, w, _ := remotelyLocked(t, 2)
	to := targetElsewhere(t, w)
	if w.granted(to, class.Success, 0) {
		t.Error("a lock is granted that was not asked for")
	}
	to.asks++
	e.requestLock(to, true)
	for _, bad := range []struct {
		c       class.Class
		process int64
	}{{class.Other, 0}, {class.ProcFailed, -1}, {class.ProcFailed, 3}} {
		if w.granted(to, bad.c, bad.process) {
			t.Errorf("answer %v is taken", bad)
		}
	}
	if !w.granted(to, class.ProcFailed, 2) || fmt.Sprint(to.refusal) == "" {
		t.Error("an answer is refused")
	}
	if w.granted(to, class.Success, 0) {
		t.Error("a second answer is taken")
	}
	own, err := w.targetLocked(0)
	if err != nil || w.postArrived(own) || w.granted(own, class.Success, 0) {
		t.Error("the own memory is posted, or granted, by a frame", err)
	}
}

// S6: a correct target that has freed the window refuses its lock (Engine.stale): the origin's call
// fails with that reason, and the target is not taken down.
func TestS6_LocksOfAFreedWindowAreRefused(t *testing.T) {
	e, w, f := remotelyLocked(t, 2)
	to := targetElsewhere(t, w)
	to.asks++
	e.requestLock(to, true)
	e.Frame(1, &wire.Header{Kind: wire.WinGrant, Ctx: w.id, Aux: uint32(class.Win)}, nil)
	if to.answered.Load() != 1 || len(f.lost) > 0 {
		t.Fatalf("%d answers, taken down: %v", to.answered.Load(), f.lost)
	}
	if got := fmt.Sprint(to.refusal); !strings.Contains(got, "rank 1 has freed the window") {
		t.Errorf("told %s", got)
	}
}
