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

// scope asks for the number of the thread only for a window with thread scope.
func TestScopeWithoutThreads(t *testing.T) {
	if New(Hooks{}).scope((*mpi.Window)(nil)) != nil || New(Hooks{Thread: func() int { t.Error("asked for"); return 0 }}).scope(nil) != nil {
		t.Error("no window has become one")
	}
}
