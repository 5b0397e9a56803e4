package shmfmt

import (
	"sync"
	"unsafe"
)

// HeapControl makes the control segment of n processes that are goroutines of
// one OS process. The race detector sees every access to it.
func HeapControl(n int) (*Control, error) {
	return OpenControl(heapMemory(ControlSize(n)), n)
}

// HeapSegment makes the segment of local process owner of n on the Go heap.
// Each ring is made when first asked for, so that silent peers cost nothing:
// the heap, unlike a sparse file, may clear or shadow what nobody touches.
func HeapSegment(owner, n int) (*Segment, error) {
	if err := checkSegment(owner, n); err != nil {
		return nil, err
	}
	s := &Segment{mem: heapMemory(ringStart(n)), n: n, heap: &heapRings{mem: make([][]byte, n)}}
	s.format(owner)
	return s, nil
}

// heapRings are the rings of a segment on the heap.
type heapRings struct {
	mu  sync.Mutex
	mem [][]byte // by local process, nil until asked for
}

func (h *heapRings) ring(from int) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mem[from] == nil {
		h.mem[from] = heapMemory(RingStride)
	}
	return h.mem[from]
}

// heapMemory is zeroed memory that starts at a line.
func heapMemory(size int64) []byte {
	words := make([]uint64, (size+Line)/8)
	skip := -uintptr(unsafe.Pointer(&words[0])) % Line / 8
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[skip])), size)[:size:size]
}
