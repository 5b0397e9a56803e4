package rma

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
)

// What C finds by the address of a view is not in the Go heap, also where the process shares no
// memory with others.
func TestRecordsAreOutsideOfTheGoHeap(t *testing.T) {
	e, w, _ := withFakePeers(t, Created, make([]byte, 100))
	v := newView(w)
	own, err := w.targetLocked(victim)
	if err != nil {
		t.Fatal(err)
	}
	address := v.Descriptor()
	for what, p := range map[string]unsafe.Pointer{
		"view": *(*unsafe.Pointer)(unsafe.Pointer(&address)), "window": unsafe.Pointer(v.rec.Window.Load()), "target": unsafe.Pointer(own.rec),
		"last target": unsafe.Pointer(w.rec.Target(len(w.targets) - 1)), "stripes": own.rec.Stripes, "closed window": unsafe.Pointer(e.closed),
	} {
		if !offheap.Holds(p) {
			t.Errorf("the %s is at %p", what, p)
		}
	}
	if offheap.Holds(unsafe.Pointer(v)) {
		t.Error("a view is taken for a record")
	}
}

// A view that has been freed stays closed while its record may still be found, and its record is
// reused only when nothing reaches the view any more.
func TestRecordsOfFreedViews(t *testing.T) {
	e, w, _ := withFakePeers(t, Created, make([]byte, 100))
	e.p.Unlock() // as withFakePeers has it
	defer e.p.Lock()
	v := newView(w)
	v.options.Store(&Options{})
	freed := func() *View {
		e.p.Lock()
		w.join(v)
		e.p.Unlock()
		d, err := v.Dup()
		if err == nil {
			err = d.Free()
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := freed()
	rec := d.rec
	if _, err := w.target(victim); err != nil {
		t.Fatal(err)
	}
	w.rec.Mode.Store(gateOpen | modeLockAll) // as if the enemy had granted his lock
	for range 3 {
		runtime.GC()
		if x := newView(w); x.rec == rec {
			t.Fatal("a view has the record of one that was freed and can still be used")
		}
		if d.PutBytes(make([]byte, 8), victim, 0) == nil || d.opened(victim) != nil || d.Passive(victim) {
			t.Fatal("a view that was freed is open")
		}
	}
	if v.opened(victim) == nil {
		t.Error("another view is closed")
	}
	runtime.KeepAlive(d)
	d = nil
	var others []*View // they keep their records, so that all free ones are taken in turn
	for x := newView(w); x.rec != rec; x = newView(w) {
		others = append(others, x)
		runtime.GC()
	}
	runtime.KeepAlive(others)
}

// A rank that has not been a target has no memory in its record, also for zero bytes, while all
// ranks are open.
func TestUnusedTargetsHaveNoRoom(t *testing.T) {
	_, w, _ := withFakePeers(t, Created, make([]byte, 100))
	v := newView(w)
	w.rec.Mode.Store(gateOpen | modeLockAll)
	for _, used := range []bool{false, true} {
		rec := v.opened(victim)
		if rec == nil || room(rec, 0, 0) >= 0 != used || room(rec, 100, 0) >= 0 != used || room(rec, 101, 0) >= 0 || room(rec, -1, 0) >= 0 {
			t.Errorf("used %t: a record %v", used, rec)
		}
		if _, err := w.targetLocked(victim); err != nil {
			t.Fatal(err)
		}
	}
	if v.opened(-1) != nil || v.opened(len(w.targets)) != nil {
		t.Error("a rank that is none is open")
	}
}

// No bytes may be put to and got from the end of memory, whose address is that of other memory:
// under the race detector Go reports such an address.
func TestNothingIsAtTheEndOfMemory(t *testing.T) {
	_, w, _ := withFakePeers(t, Created, make([]byte, 128))
	v := newView(w)
	w.rec.Mode.Store(gateOpen | modeLockAll)
	if _, err := w.targetLocked(victim); err != nil {
		t.Fatal(err)
	}
	if room(v.opened(victim), 128, 0) != 128 {
		t.Error("there is no room for nothing")
	}
	if err := errors.Join(v.PutBytes(nil, victim, 128), v.GetBytes([]byte{}, victim, 128)); err != nil {
		t.Error(err)
	}
}
