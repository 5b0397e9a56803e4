package rma

import (
	"bytes"
	"os"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/shmfmt"
)

// MayUnlocked returns how many operations to a rank may still be made without the lock.
func (v *View) MayUnlocked(rank int) int32 { return v.w.targets[rank].Load().rec.May.Load() }

// AllowUnlocked does the work that follows an operation to a rank by the kernel, in the case that the
// next n operations would make no offer.
func (v *View) AllowUnlocked(rank int, n uint32) {
	t, e := v.w.targets[rank].Load(), v.w.e
	e.p.Lock()
	defer e.p.Unlock()
	e.offers.At(int(t.Process)).skip = n
	e.allow(t)
}

// An operation is made without the lock only if it lies within the memory, its target is not known to
// have died, its view is not in order, and the allowed number of such operations is not reached.
func TestUnlockedCopiesWhatMayBe(t *testing.T) {
	mem := make([]byte, 64<<10) // large: on the heap, which does not move
	var gone atomic.Bool
	r := &shmfmt.TargetRecord{Unit: 4, Size: 40000, Addr: uint64(address(mem)), Pid: int32(os.Getpid()), Gone: &gone}
	r.End.Store(10001)
	x, v := &target{rec: r}, &View{rec: new(shmfmt.ViewRecord)}
	put := func(n int, disp int64) bool { return v.putUnlocked(x, bytes.Repeat([]byte{9}, n), disp) }
	get := func(n int, disp int64) bool { return v.getUnlocked(x, make([]byte, n), disp) }

	if put(8, 0) || get(8, 0) {
		t.Error("nothing is allowed, and it was copied")
	}
	for _, c := range []struct {
		n    int
		disp int64
		made bool
	}{
		{8, 2, true}, {8, 9998, true}, {4, 9999, true}, {unlockedLess - 1, 5, true},
		{8, 9999, false}, {1, 10000, false}, {1, 10001, false}, {8, -1, false}, {8, 1 << 62, false}, {0, 0, false}, {unlockedLess, 0, false},
	} {
		clear(mem)
		r.May.Store(2)
		if put(c.n, c.disp) != c.made || get(c.n, c.disp) != c.made {
			t.Errorf("%d bytes at %d: made %t", c.n, c.disp, !c.made)
		}
		if got := bytes.Count(mem, []byte{9}); c.made && (got != c.n || mem[4*c.disp] != 9) || !c.made && got != 0 {
			t.Errorf("%d bytes at %d have changed %d", c.n, c.disp, got)
		}
		if left := r.May.Load(); c.made && left != 0 || !c.made && left != 2 {
			t.Errorf("%d bytes at %d: %d more are allowed", c.n, c.disp, left)
		}
	}
	r.May.Store(1)
	if !put(8, 0) || put(8, 0) {
		t.Error("one is allowed: that, or more, was not or was copied")
	}
	for what, change := range map[string]func() func(){
		"a process that is gone": func() func() { gone.Store(true); return func() { gone.Store(false) } },
		"a view in order":        func() func() { v.rec.How.Store(howInOrder); return func() { v.rec.How.Store(0) } },
		"no memory there":        func() func() { was := r.Addr; r.Addr = 4096; return func() { r.Addr = was } },
		"no process":             func() func() { was := r.Pid; r.Pid = 1 << 30; return func() { r.Pid = was } },
	} {
		r.May.Store(10)
		back := change()
		if put(8, 0) || get(8, 0) {
			t.Errorf("%s, and it was copied", what)
		}
		back()
	}
	r.May.Store(1 << 20)
	some := make([]byte, 8)
	if n := testing.AllocsPerRun(100, func() { _ = v.putUnlocked(x, some, 0) && v.getUnlocked(x, some, 0) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

// An operation that does not need to test for an offer is counted as if it had tested.
func TestOffersSpared(t *testing.T) {
	for _, c := range []struct {
		what   string
		x      offerTo
		sleeps bool
		n      uint32
		left   offerTo
	}{
		{"it may poll", offerTo{}, false, 0, offerTo{}},
		{"some are to do without", offerTo{skip: 7, nextSkip: 7}, false, 7, offerTo{nextSkip: 7}},
		{"none can be made", offerTo{never: true, skip: 2}, false, skipMax, offerTo{never: true, skip: 2}},
		{"one is waited for", offerTo{busy: true, skip: 2}, true, 0, offerTo{busy: true, skip: 2}},
		{"it sleeps", offerTo{}, true, wakeAfterMin - 1, offerTo{asleep: wakeAfterMin - 1}},
		{"it sleeps, and some have found that", offerTo{asleep: 3, wakeAfter: wakeAfterMin}, true, wakeAfterMin - 4, offerTo{asleep: wakeAfterMin - 1, wakeAfter: wakeAfterMin}},
		{"the next wakes it", offerTo{asleep: wakeAfterMin - 1, wakeAfter: wakeAfterMin}, true, 0, offerTo{asleep: wakeAfterMin - 1, wakeAfter: wakeAfterMin}},
		{"it is left asleep for long", offerTo{wakeAfter: wakeAfterMax}, true, skipMax, offerTo{asleep: skipMax, wakeAfter: wakeAfterMax}},
	} {
		x := c.x
		if n := x.spare(c.sleeps); n != c.n || x != c.left {
			t.Errorf("%s: %d are spared, want %d; left is %+v, want %+v", c.what, n, c.n, x, c.left)
		}
	}
}

// Framed reports whether frames to a rank may be under way.
func (v *View) Framed(rank int) bool { return v.w.targets[rank].Load().rec.Framed.Load() }
