package heap

import (
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/offheap"
)

// Short blocks of a private heap are outside of the Go heap, which C must not access, and are reused
// after they are freed. Blocks of a loose heap are on the Go heap, so that the collector and the
// race detector see them.
func TestPrivateBlocksAreOutsideOfTheGoHeap(t *testing.T) {
	for name, h := range map[string]*Heap{"private": Private(), "loose": Loose()} {
		for _, size := range []int64{0, 1, 1000, 32 << 10, 60_000} {
			off, mem, err := h.Alloc(size, 0)
			if err != nil {
				t.Fatal(err)
			}
			if offheap.Holds(unsafe.Pointer(unsafe.SliceData(mem))) != (name == "private") {
				t.Errorf("%d bytes of a %s heap are at %p", size, name, unsafe.SliceData(mem))
			}
			for i := range mem {
				mem[i] = 1
			}
			if err := h.Free(off); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			_, mem, err := h.Alloc(1000, 0)
			if err != nil || mem[0] != 0 || mem[999] != 0 {
				t.Errorf("a block of a %s heap is not zero: %v", name, err)
			}
		}
		if err := h.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
