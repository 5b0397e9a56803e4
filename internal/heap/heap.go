package heap

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

// Align is the alignment of every block in bytes.
const Align = granule

// maxAlign is the largest alignment in bytes: the largest page of any processor.
const maxAlign = 1 << 30

// Heap allocates blocks, which it identifies by their offsets. Any goroutine may call its methods.
//
// The mutex is held while a small block is allocated or freed, since it shares pages with others.
// It is not held for a large block, which may take seconds: that block is marked busy, and Find
// does not return it, until its pages are committed or freed.
type Heap struct {
	budget *Budget
	store  backing

	mu    sync.Mutex
	space *space // nil before the first block
}

// A backing is the memory behind the offsets of a heap.
type backing interface {
	// begin is called before the first block is allocated. It returns the size of the heap and
	// the address of offset 0; base is 0 if the blocks are not at consecutive addresses.
	begin() (size, base int64, err error)
	// commit gives a block its memory, filled with zeros. Its pages in fresh were not in use;
	// if commit fails they are not allocated. No other method runs for them meanwhile.
	commit(b *extent, fresh span, align int64, budget *Budget) error
	// drop frees the memory of a block. Its pages in idle are no longer in use.
	drop(b *extent, idle span) error
	// found is called when a block has its memory, and lost before it is freed. The caller of
	// both holds the mutex.
	found(b *extent)
	lost(b *extent)
	// offset returns the offset of an address in the heap. The caller holds the mutex.
	offset(addr uintptr) (off int64, ok bool)
}

func newHeap(b backing, budget *Budget) *Heap { return &Heap{budget: budget, store: b} }

// Alloc allocates a block of size bytes at an address that is a multiple of align, a power of two or
// less than Align. A block of 0 bytes has an address of its own too, and the capacity of mem is enough
// for one element of any type. Errors are of class NoMem.
func (h *Heap) Alloc(size, align int64) (off int64, mem []byte, err error) {
	align = max(align, Align)
	if size < 0 || align&(align-1) != 0 {
		return 0, nil, class.Errorf(class.Arg, "%d bytes of memory at a multiple of %d", size, align)
	}
	if align > maxAlign {
		return 0, nil, noMemory(size, fmt.Errorf("no address is a multiple of %d, the limit is %d", align, maxAlign))
	}
	if err := h.budget.admit(size); err != nil {
		return 0, nil, noMemory(size, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.space == nil {
		room, base, err := h.store.begin()
		if err != nil {
			return 0, nil, noMemory(size, err)
		}
		h.space = newSpace(room, int64(os.Getpagesize()), base)
	}
	b, fresh := h.space.alloc(max(size, 1), align)
	if b == nil {
		return 0, nil, class.Errorf(class.NoMem,
			"%d bytes of memory at a multiple of %d: %d bytes of the heap are free, not in one piece or not there", size, align, h.space.left)
	}
	h.alone(b, func() { err = h.store.commit(b, fresh, align, h.budget) })
	if err != nil {
		h.space.release(b)
		return 0, nil, noMemory(size, err)
	}
	b.mem = b.mem[:size]
	if size > 0 {
		b.mem = b.mem[:size:size]
	}
	h.store.found(b)
	return b.off, b.mem, nil
}

// alone runs f, which commits or frees the memory of a block. The caller holds the mutex. f runs
// without it if the block shares no page with others.
func (h *Heap) alone(b *extent, f func()) {
	if b.size < h.space.page {
		f()
		return
	}
	b.busy = true
	h.mu.Unlock()
	f()
	h.mu.Lock()
	b.busy = false
}

func noMemory(size int64, err error) error {
	return class.Errorf(class.NoMem, "%d bytes of memory: %w", size, err)
}

// Free frees the block at off. The error is of class Base if no block begins there.
func (h *Heap) Free(off int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.live(off)
	if b == nil || b.off != off {
		return class.Errorf(class.Base, "no block of memory begins at offset %d of the heap", off)
	}
	h.store.lost(b)
	if b.size < h.space.page {
		was := *b
		return h.store.drop(&was, h.space.release(b))
	}
	var err error
	h.alone(b, func() { err = h.store.drop(b, span{b.off, b.end()}) })
	h.space.release(b)
	return err
}

// live returns the live block that contains off, nil if there is none. The caller holds the mutex.
func (h *Heap) live(off int64) *extent {
	if h.space == nil {
		return nil
	}
	if b := h.space.block(off); b != nil && !b.busy {
		return b
	}
	return nil
}

// Find returns the offset of mem in the heap, if mem is within a live block.
func (h *Heap) Find(mem []byte) (off int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	off, b := h.find(mem)
	if b == nil || int64(len(mem)) > int64(len(b.mem))-(off-b.off) {
		return 0, false
	}
	return off, true
}

// Base returns the offset of the block that begins where mem does.
func (h *Heap) Base(mem []byte) (off int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	off, b := h.find(mem)
	return off, b != nil && b.off == off
}

// find returns the offset of mem, and the live block in which it begins. The caller holds the mutex.
func (h *Heap) find(mem []byte) (int64, *extent) {
	p := unsafe.SliceData(mem)
	if p == nil {
		return 0, nil
	}
	off, ok := h.store.offset(uintptr(unsafe.Pointer(p)))
	if !ok {
		return 0, nil
	}
	return off, h.live(off)
}

// Memory returns size bytes of a live block from offset off on. 0 bytes may be at any offset, such as behind
// the end of a shared window; within a block they have their address. Ranks that are goroutines use each other's blocks through it. Errors are of
// class RMARange.
func (h *Heap) Memory(off, size int64) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.live(off)
	if size == 0 && off >= 0 {
		if b == nil || off-b.off >= int64(cap(b.mem)) {
			return []byte{}, nil
		}
		return Part(b.mem, off-b.off, 0), nil
	}
	if b == nil || size < 0 || size > int64(len(b.mem))-(off-b.off) {
		return nil, class.Errorf(class.RMARange, "%d bytes at offset %d of the heap are not of one block", size, off)
	}
	return Part(b.mem, off-b.off, size), nil
}

// Part returns n bytes of mem from off on. 0 bytes have their address: Go lets a slice without capacity begin
// where mem does, so Part gives it the byte that follows, which mem must have.
func Part(mem []byte, off, n int64) []byte { return mem[off : off+n : off+max(n, 1)] }

// Release frees all blocks. The caller ensures that nobody uses them or the heap any more.
func (h *Heap) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.space == nil {
		return nil
	}
	var blocks []*extent
	h.space.all.root.each(func(e *extent) {
		if !e.free {
			blocks = append(blocks, e)
		}
	})
	var errs []error
	for _, b := range blocks {
		h.store.lost(b)
		was := *b
		errs = append(errs, h.store.drop(&was, h.space.release(b)))
	}
	return errors.Join(errs...)
}

// Live returns the number of live blocks and of the bytes that they take.
func (h *Heap) Live() (blocks int, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.space == nil {
		return 0, 0
	}
	return h.space.live, h.space.size - h.space.left
}
