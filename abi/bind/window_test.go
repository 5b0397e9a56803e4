package bind

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
)

// slice accepts memory and empty memory, and refuses memory that cannot exist (RW-01).
func TestMemoryOfC(t *testing.T) {
	here := unmoved[[16]byte]()
	at := uintptr(unsafe.Pointer(here))
	for _, c := range []struct {
		address uintptr
		size    int64
		ok      bool
	}{
		{at, 16, true}, {at, 0, true}, {0, 0, true}, {1, 0, true},
		{0, 8, false}, {1, 8, false}, {4095, 8, false}, {at, -1, false}, {at, math.MinInt64, false},
		{math.MaxUint64 - 8, 100, false},
	} {
		mem, ok := slice(c.address, c.size)
		if ok != c.ok || ok && len(mem) != int(c.size) || ok && c.address == at && address(mem) != at {
			t.Errorf("%d bytes at %#x: %d bytes at %#x, %v", c.size, c.address, len(mem), address(mem), ok)
		}
	}
}

// Names that are too long are truncated, as the standard requires.
func TestNamesOfObjects(t *testing.T) {
	for n, want := range map[int]int{0: 0, 127: 127, 128: 127, 1000: 127} {
		if got := len(objectName(strings.Repeat("x", n))); got != want {
			t.Errorf("of %d bytes %d are left, want %d", n, got, want)
		}
	}
}

// The Fortran number of a synchronisation object leads back to it until the object is freed
// (SYN-37).
func TestSYN37_NumbersOfObjects(t *testing.T) {
	l := New(Hooks{})
	seen := map[int]bool{0: true}
	for w := uintptr(1); w < 3000; w += 7 {
		w := w<<47 | w
		n := l.syncToInt(w)
		if seen[n] || n != l.syncToInt(w) || l.syncFromInt(int32(n)) != w {
			t.Fatalf("object %#x has number %d, which leads to %#x", w, n, l.syncFromInt(int32(n)))
		}
		seen[n] = true
	}
	if n := l.syncToInt(0); n != 0 || l.syncFromInt(0) != 0 || !syncOf(0).IsNull() {
		t.Errorf("the null object has number %d", n)
	}
	n := l.syncToInt(12345)
	h, _ := l.syncs.handles.Load(syncOf(12345))
	l.syncs.drop(h.(handle))
	if l.syncFromInt(int32(n)) == 0 || l.syncFromInt(int32(n)) == 12345 {
		t.Error("the number of an object that is gone leads to it, or to the null object")
	}
}

// scope asks for the number of the thread only for a window with thread scope.
func TestScopeWithoutThreads(t *testing.T) {
	if New(Hooks{}).scope((*mpi.Window)(nil)) != nil || New(Hooks{Thread: func() int { t.Error("asked for"); return 0 }}).scope(nil) != nil {
		t.Error("no window has become one")
	}
}
