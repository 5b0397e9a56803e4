package rma

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// At each offset of the layout is the value that Go has stored, also for fields of types of package
// atomic.
func TestDescriptorLayoutIsWhereThingsAre(t *testing.T) {
	at := map[string]uintptr{}
	for _, f := range DescriptorLayout() {
		if _, twice := at[f.Name]; twice {
			t.Fatalf("%s is there twice", f.Name)
		}
		at[f.Name] = uintptr(f.Value)
	}
	mem := make([]byte, 24)
	stripes := shmfmt.HeapStripes(5)
	e := &Engine{}
	e.locking = new(shmfmt.LockingRecord)
	page := make([]uint64, shmfmt.WindowSize(5)/8)
	control, err := shmfmt.FormatWindow(unsafe.Slice((*byte)(unsafe.Pointer(&page[0])), len(page)*8), 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	w := e.newWindow(&comm.Comm{Members: make([]int32, 7)}, 1, Allocated)
	x := &target{w: w, Target: link.Target{Rank: 2}, rec: w.rec.Target(2), control: control, region: apply.Region{Mem: mem, Stripes: stripes, Me: 4, Fine: true}}
	r := x.rec
	r.Gate.Store(gateOpen | gateLocked)
	r.Framed.Store(true)
	r.Pid, r.Gone = 78, new(atomic.Bool)
	r.May.Store(5)
	r.Held, r.Bare = heldLocked, true
	x.publish(&entry{unit: 3, size: 24, addr: 77})
	w.rec.Mode.Store(modeLockAll)
	w.rec.Epoch, w.rec.Locked = uint32(epochLock), 6
	w.rec.NoLocks.Store(true)
	w.mu.Lock()
	e.locking.Lost.Store(true)
	e.swapLazy(nil, x)
	l := control.Lock()
	l.Claim(3, true, nil)
	l.Orphaned(8)
	v := newView(w)
	v.rec.How.Store(howIntrinsic)

	p := unsafe.Pointer(v.rec)
	if address := v.Descriptor(); address != uintptr(p) {
		t.Errorf("the record is at %p, told is %#x", p, address)
	}
	if p := load[unsafe.Pointer](p, at["VIEW_WINDOW"]); p != unsafe.Pointer(w.rec) {
		t.Errorf("the window is %p, read is %p", w.rec, p)
	}
	if n := load[uint32](p, at["VIEW_HOW"]); n != uint32(at["HOW_INTRINSIC"]) {
		t.Errorf("how is %d", n)
	}
	p = unsafe.Pointer(w.rec)
	if n := load[uint32](p, at["WINDOW_MODE"]); n != uint32(at["MODE_LOCK_ALL"]) {
		t.Errorf("the mode is %d", n)
	}
	if n := load[uint64](p, at["WINDOW_RANKS"]); n != 7 {
		t.Errorf("there are %d targets", n)
	}
	locking := load[unsafe.Pointer](p, at["WINDOW_PROCESS"])
	for name, is := range map[string]bool{
		"the mutex":     load[int32](p, at["WINDOW_MUTEX"]) == 1,
		"the epoch":     load[uint32](p, at["WINDOW_EPOCH"]) == uint32(at["EPOCH_LOCK"]),
		"targets":       load[int32](p, at["WINDOW_LOCKED"]) == 6,
		"no locks":      load[uint32](p, at["WINDOW_NO_LOCKS"]) == 1,
		"a death":       load[uint32](locking, at["LOCKING_LOST"]) == 1,
		"the lazy lock": load[unsafe.Pointer](locking, at["LOCKING_LAZY"]) == unsafe.Pointer(x),
	} {
		if !is {
			t.Errorf("%s is not where it should be", name)
		}
	}
	p = unsafe.Add(load[unsafe.Pointer](p, at["WINDOW_TARGETS"]), 2*at["TARGET_BYTES"])
	if p != unsafe.Pointer(r) {
		t.Errorf("target 2 is %p, read is %p", r, p)
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"gate", load[uint32](p, at["TARGET_GATE"]), uint32(at["GATE_OPEN"] | at["GATE_LOCKED"])},
		{"framed", load[uint32](p, at["TARGET_FRAMED"]), uint32(1)},
		{"end", load[uint64](p, at["TARGET_END"]), uint64(9)},
		{"unit", load[int64](p, at["TARGET_UNIT"]), int64(3)},
		{"mem", load[*byte](p, at["TARGET_MEM"]), &mem[0]},
		{"length", load[int64](p, at["TARGET_LEN"]), int64(24)},
		{"me", load[uint32](p, at["TARGET_ME"]), uint32(4)},
		{"processes", load[uint32](p, at["TARGET_LOCALS"]), uint32(5)},
		{"near", load[bool](p, at["TARGET_NEAR"]), true},
		{"fine", load[bool](p, at["TARGET_FINE"]), true},
		{"size", load[int64](p, at["TARGET_SIZE"]), int64(24)},
		{"address", load[uint64](p, at["TARGET_ADDR"]), uint64(77)},
		{"gone", load[*atomic.Bool](p, at["TARGET_GONE"]), r.Gone},
		{"process", load[int32](p, at["TARGET_PID"]), int32(78)},
		{"allowed", load[int32](p, at["TARGET_MAY"]), int32(5)},
		{"held", load[uint32](p, at["TARGET_HELD"]), uint32(at["HELD_LOCKED"])},
		{"bare", load[bool](p, at["TARGET_BARE"]), true},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, read is %v", c.name, c.want, c.got)
		}
	}
	// So are a claim, the bit of its claimant, the tickets, and the orphan.
	lock := load[unsafe.Pointer](p, at["TARGET_LOCK"])
	claim := load[uint64](lock, at["LOCK_LINES"]+3*at["LOCK_LINE"]+at["LOCK_CLAIM"])
	if want := uint64(at["CLAIM_TICKET"] | at["CLAIM_TRYING"] | at["CLAIM_EXCLUSIVE"]); claim != want {
		t.Errorf("the claim is %#x, want %#x", claim, want)
	}
	if bits, tickets, orphan := load[uint64](lock, at["LOCK_BITS"]), load[uint64](lock, at["LOCK_TICKETS"]), load[uint64](lock, at["LOCK_ORPHAN"]); bits != 8 || tickets != 1 || orphan != 9 {
		t.Errorf("bits %#x, %d tickets, orphan %d", bits, tickets, orphan)
	}
	// A reader's count and a writer's word are where the formula of the header has them.
	s := load[unsafe.Pointer](p, at["TARGET_STRIPES"])
	for i := range shmfmt.StripeCount {
		if !stripes.Enter(i, 4) {
			t.Fatal("somebody is in a stripe")
		}
		if n := load[uint64](s, (at["STRIPE_COUNT"]+4)*at["STRIPE_LINE"]+uintptr(i)*8); n != uint64(at["STRIPE_ENTERED"]) {
			t.Errorf("the count of stripe %d is %#x", i, n)
		}
		stripes.Leave(i, 4)
		if !stripes.Claim(i, 4) {
			t.Fatal("somebody writes in a stripe")
		}
		if n := load[uint64](s, uintptr(i)*at["STRIPE_LINE"]); n != 5 {
			t.Errorf("the writer word of stripe %d is %#x", i, n)
		}
		stripes.Release(i)
	}
}

func load[T any](p unsafe.Pointer, at uintptr) T { return *(*T)(unsafe.Add(p, at)) }
