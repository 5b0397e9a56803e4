package shmfmt

import (
	"sync"
	"unsafe"
)

// HeapControl makes the control segment of n processes that are goroutines of
// one OS process. The race detector sees every access to it.
func HeapControl(n int) (*Control, error) {
	c := newControl(heapMemory(bulkStart(n)), n)
	c.heap = newHeapParts(SlotCount)
	return c, nil
}

// HeapSegment makes the segment of local process owner of n on the Go heap.
// Silent peers cost nothing.
func HeapSegment(owner, n int) (*Segment, error) {
	if err := checkSegment(owner, n); err != nil {
		return nil, err
	}
	s := &Segment{mem: heapMemory(ringStart(n)), n: n, heap: newHeapParts(n)}
	s.format(owner)
	return s, nil
}

// heapParts are parts of a segment that are made when first asked for, so that
// those that nobody uses cost nothing: the heap, unlike a sparse file, may clear or
// shadow what nobody touches.
type heapParts struct {
	mu  sync.Mutex
	mem [][]byte // nil until asked for
}

func newHeapParts(n int) *heapParts { return &heapParts{mem: make([][]byte, n)} }

// part is part i, of size bytes.
func (h *heapParts) part(i int, size int64) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mem[i] == nil {
		h.mem[i] = heapMemory(size)
	}
	return h.mem[i]
}

// heapMemory is zeroed memory that starts at a line.
func heapMemory(size int64) []byte {
	words := make([]uint64, (size+Line)/8)
	skip := -uintptr(unsafe.Pointer(&words[0])) % Line / 8
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[skip])), size)[:size:size]
}
