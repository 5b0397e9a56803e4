package bind

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Handles lead to their objects. Handles that were freed, are of another kind or never existed
// are invalid. Slots are reused.
func TestHandles(t *testing.T) {
	comms, groups := table[int]{kind: kindComm}, table[int]{kind: kindGroup}
	live, dead := map[handle]int{}, map[handle]bool{}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 20000 {
		if len(live) > 0 && rng.IntN(5) < 2 {
			for h := range live {
				delete(live, h)
				dead[h] = true
				if !comms.remove(h) || comms.remove(h) {
					t.Fatalf("handle %#x was not removed once", h)
				}
				break
			}
			continue
		}
		h := comms.add(n)
		if _, again := live[h]; again || dead[h] {
			t.Fatalf("handle %#x was given twice", h)
		}
		if h < 0x1000 {
			t.Fatalf("handle %#x is one of the standard's", h)
		}
		if back := comms.fromInt(comms.toInt(h)); back != h {
			t.Fatalf("handle %#x came back from int %#x as %#x", h, comms.toInt(h), back)
		}
		live[h] = n
	}
	for h, n := range live {
		if got, ok := comms.get(h); !ok || got != n {
			t.Fatalf("handle %#x leads to %d, %v, want %d", h, got, ok, n)
		}
		if _, ok := groups.get(h); ok {
			t.Fatalf("handle %#x of a communicator is one of a group", h)
		}
	}
	for h := range dead {
		if _, ok := comms.get(h); ok {
			t.Fatalf("handle %#x was freed and is not", h)
		}
	}
	for range 100000 {
		h := handle(rng.Uint64())
		if _, is := live[h]; !is {
			if _, ok := comms.get(h); ok {
				t.Fatalf("handle %#x never was one", h)
			}
		}
	}
	if comms.count() != len(live) || int(comms.used) > 20000 {
		t.Errorf("%d handles in %d slots, want %d", comms.count(), comms.used, len(live))
	}
}

// The handle of a freed datatype is invalid until the next datatype is made, which gets it. In
// checking mode it stays invalid.
func TestTypeHandlesComeAgain(t *testing.T) {
	for _, mode := range []string{"0", "1"} {
		t.Setenv("HALO_CHECK", mode)
		l := New(Hooks{})
		l.startTypes()
		int32s, err := mpi.Predefined("MPI_INT32_T")
		if err != nil {
			t.Fatal(err)
		}
		first, err1 := mpi.TypeContiguous(2, int32s)
		second, err2 := mpi.TypeContiguous(3, int32s)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		old := l.types.put(first)
		if !l.types.drop(old) {
			t.Fatal("not dropped")
		}
		if d, ok := l.types.get(old); ok {
			t.Errorf("HALO_CHECK=%s: a freed handle is one of %v", mode, d)
		}
		h := l.types.put(second)
		if (h == old) != (mode == "0") {
			t.Errorf("HALO_CHECK=%s: handle %#x was freed, and then %#x made", mode, old, h)
		}
		if d, ok := l.types.get(old); ok != (mode == "0") || ok && d != second {
			t.Errorf("HALO_CHECK=%s: the freed handle is one of %v, %v", mode, d, ok)
		}
	}
}

// Many threads make and end handles at once: no two objects get the same handle, each handle
// leads to its own object, and only one removal of it succeeds.
func TestHandlesOfManyThreads(t *testing.T) {
	tb := table[int]{kind: kindRequest}
	var wg sync.WaitGroup
	const threads, kept = 4, 2
	for g := range threads {
		wg.Go(func() {
			var mine [kept]handle
			for n := range 200_000 {
				i := n % kept
				if h := mine[i]; h != 0 {
					if v, ok := tb.get(h); !ok || v != n-kept+g<<20 {
						t.Errorf("handle %#x leads to %#x, %v", h, v, ok)
						return
					}
					if !tb.remove(h) || tb.remove(h) {
						t.Errorf("handle %#x was not removed once", h)
						return
					}
				}
				mine[i] = tb.add(n + g<<20)
			}
		})
	}
	wg.Wait()
	if n := tb.count(); n != threads*kept || tb.used > threads*kept {
		t.Errorf("%d handles in %d slots, want %d", n, tb.used, threads*kept)
	}
}

// A million handles, made and freed one after the other, use one slot.
func TestHandlesDoNotGrow(t *testing.T) {
	var c table[int]
	c.kind = kindRequest
	for n := range 1_000_000 {
		if !c.remove(c.add(n)) {
			t.Fatal("not removed")
		}
	}
	if c.used != 1 {
		t.Errorf("a million handles, one at a time, took %d slots", c.used)
	}
}
