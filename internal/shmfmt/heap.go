package shmfmt

import (
	"sync"
	"unsafe"
)

// HeapControl makes the control segment of n processes that are goroutines of one process of the
// operating system. The race detector sees every access to it.
func HeapControl(n int) (*Control, error) {
	c := newControl(heapMemory(bulkStart(n)), n)
	c.heap = newHeapParts(SlotCount)
	return c, nil
}

// HeapSegment makes the segment of local process owner of n on the Go heap. Peers that send nothing
// cost no memory.
func HeapSegment(owner, n int) (*Segment, error) {
	if err := checkSegment(owner, n); err != nil {
		return nil, err
	}
	s := &Segment{mem: heapMemory(ringStart(n)), n: n, heap: newHeapParts(n)}
	s.format(owner)
	return s, nil
}

// heapParts are parts of a segment that are allocated at their first use, so that unused parts cost
// no memory: the Go heap, unlike a sparse file, may clear or shadow memory that is never used.
type heapParts struct {
	mu  sync.Mutex
	mem [][]byte // nil until the first use
}

func newHeapParts(n int) *heapParts { return &heapParts{mem: make([][]byte, n)} }

// part returns part i, which has size bytes.
func (h *heapParts) part(i int, size int64) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mem[i] == nil {
		h.mem[i] = heapMemory(size)
	}
	return h.mem[i]
}

// heapMemory returns zeroed memory that starts at a line.
func heapMemory(size int64) []byte {
	words := make([]uint64, (size+Line)/8)
	skip := -uintptr(unsafe.Pointer(&words[0])) % Line / 8
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[skip])), size)[:size:size]
}
