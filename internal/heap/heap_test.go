package heap

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
)

// backings returns functions that make a heap with each backing of this platform.
func backings(t testing.TB) map[string]func(*Budget) *Heap {
	all := map[string]func(*Budget) *Heap{
		"private": func(b *Budget) *Heap { return newHeap(&loose{mappings: true}, b) },
		"loose":   func(b *Budget) *Heap { return newHeap(&loose{}, b) },
	}
	addShared(t, all)
	return all
}

func has(err error, c class.Class) bool {
	var e *class.Error
	return errors.As(err, &e) && e.Class == c
}

// held is a block of a test, filled with the byte mark.
type held struct {
	off  int64
	mem  []byte
	mark byte
}

// allocate allocates a block, checks its address, length, offset and content, and fills it with
// mark.
func allocate(h *Heap, size, align int64, mark byte) (held, error) {
	off, mem, err := h.Alloc(size, align)
	if err != nil {
		return held{}, err
	}
	b := held{off, mem, mark}
	switch at, found := h.Find(mem); {
	case int64(len(mem)) != size:
		return b, fmt.Errorf("%d bytes, want %d", len(mem), size)
	case address(mem)%max(align, Align) != 0:
		return b, fmt.Errorf("%d bytes at %#x, not a multiple of %d", size, address(mem), align)
	case !found || at != off:
		return b, fmt.Errorf("%d bytes at offset %d are found at %d (%t)", size, off, at, found)
	}
	if n := bytes.Count(mem, []byte{0}); n != len(mem) {
		return b, fmt.Errorf("%d bytes of %d at offset %d are not zero", len(mem)-n, size, off)
	}
	for at := 0; at < len(mem); at = max(1, 2*at) {
		if at == 0 {
			mem[0] = mark
		}
		copy(mem[at:], mem[:at])
	}
	return b, nil
}

// release checks that the content of a block has not changed, and frees the block.
func (b held) release(h *Heap) error {
	if n := bytes.Count(b.mem, []byte{b.mark}); n != len(b.mem) {
		return fmt.Errorf("%d bytes of %d at offset %d are no longer %#x", len(b.mem)-n, len(b.mem), b.off, b.mark)
	}
	if seen, err := h.Memory(b.off, int64(len(b.mem))); err != nil || !bytes.Equal(seen, b.mem) {
		return fmt.Errorf("%d bytes at offset %d: %v", len(b.mem), b.off, err)
	}
	return h.Free(b.off)
}

func randomSize(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return 4096*int64(r.IntN(20)) + int64(r.IntN(3)) - 1
	case 2:
		return r.Int64N(200_000)
	}
	return r.Int64N(3000) + 1
}

// Blocks are zeroed, aligned and disjoint, and keep their content while others are allocated and
// freed.
func TestBlocksKeepWhatIsInThem(t *testing.T) {
	for name, open := range backings(t) {
		h := open(NewBudget())
		r := rand.New(rand.NewPCG(3, 3))
		var blocks []held
		for step := range 3000 {
			if r.IntN(3) == 0 && len(blocks) > 0 || len(blocks) > 300 {
				k := r.IntN(len(blocks))
				if err := blocks[k].release(h); err != nil {
					t.Fatalf("%s: step %d: %v", name, step, err)
				}
				blocks = slices.Delete(blocks, k, k+1)
				continue
			}
			b, err := allocate(h, max(randomSize(r), 0), 1<<r.IntN(14), byte(step)|1)
			if err != nil {
				t.Fatalf("%s: step %d: %v", name, step, err)
			}
			blocks = append(blocks, b)
		}
		if n, size := h.Live(); n != len(blocks) || size < int64(n)*Align {
			t.Errorf("%s: %d blocks with %d bytes, want %d blocks", name, n, size, len(blocks))
		}
		for _, b := range blocks {
			if err := b.release(h); err != nil {
				t.Fatalf("%s: at the end: %v", name, err)
			}
		}
		if n, size := h.Live(); n != 0 || size != 0 {
			t.Errorf("%s: %d blocks with %d bytes at the end", name, n, size)
		}
		if l, ok := h.store.(*loose); ok && l.places.root != nil {
			t.Errorf("%s: places of blocks are left", name)
		}
	}
}

// A large block cannot be found or freed while it is being allocated, and the heap can be used
// meanwhile.
func TestBlockIsNotFoundBeforeItIsThere(t *testing.T) {
	for name, open := range backings(t) {
		looks, making := 0, false
		var h *Heap
		var small held
		h = open(&Budget{look: func() Room {
			if making && looks == 1 { // in the middle of the allocation
				looks++
				for off := int64(0); off < 1<<20; off += 4096 {
					if off == small.off {
						continue
					}
					if err := h.Free(off); !has(err, class.Base) {
						t.Errorf("%s: free of a block that is being made: %v", name, err)
					}
					if _, err := h.Memory(off, 1); !has(err, class.RMARange) {
						t.Errorf("%s: memory of a block that is being made: %v", name, err)
					}
				}
				if err := h.Free(small.off); err != nil {
					t.Errorf("%s: meanwhile: %v", name, err)
				}
			}
			looks++
			return Room{1 << 30, "available"}
		}})
		var err error
		small, err = allocate(h, 10, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		looks, making = 0, true
		b, err := allocate(h, 40<<20, 0, 1)
		if err != nil || looks < 3 {
			t.Fatalf("%s: %d looks, %v", name, looks, err)
		}
		making = false
		if err := b.release(h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Several goroutines use a heap at the same time, for small and for large blocks.
func TestGoroutinesShareAHeap(t *testing.T) {
	for name, open := range backings(t) {
		h := open(NewBudget())
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 4))
				var blocks []held
				for range 300 {
					if r.IntN(2) == 0 && len(blocks) > 0 {
						if err := blocks[0].release(h); err != nil {
							t.Errorf("%s: %v", name, err)
						}
						blocks = blocks[1:]
						continue
					}
					b, err := allocate(h, max(randomSize(r), 0), 64, byte(1+g))
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					blocks = append(blocks, b)
				}
				for _, b := range blocks {
					if err := b.release(h); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		all.Wait()
		if n, size := h.Live(); n != 0 || size != 0 {
			t.Errorf("%s: %d blocks with %d bytes at the end", name, n, size)
		}
	}
}

// Release frees all blocks that are left, so that unused heaps keep no memory.
func TestReleaseTakesAllBack(t *testing.T) {
	for name, open := range backings(t) {
		h := open(NewBudget())
		if err := h.Release(); err != nil {
			t.Errorf("%s: a heap that was not used: %v", name, err)
		}
		for _, size := range []int64{10, 20, 5000, 1 << 20, 30} {
			if _, err := allocate(h, size, 0, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Release(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n, size := h.Live(); n != 0 || size != 0 {
			t.Errorf("%s: %d blocks with %d bytes are left", name, n, size)
		}
	}
}

// MEM-01, MEM-05: a block of 0 bytes has an address of its own, which identifies it for Free.
func TestMEM05Names(t *testing.T) {
	for name, open := range backings(t) {
		h := open(NewBudget())
		if _, ok := h.Base([]byte{1}); ok {
			t.Errorf("%s: a heap that was not used has a block", name)
		}
		if err := h.Free(0); !has(err, class.Base) {
			t.Errorf("%s: free before the first block: %v", name, err)
		}
		var offs []int64
		for range 3 {
			off, mem, err := h.Alloc(0, 0)
			if err != nil || len(mem) != 0 || cap(mem) == 0 {
				t.Fatalf("%s: no bytes: %d of %d, %v", name, len(mem), cap(mem), err)
			}
			if at, ok := h.Base(mem); !ok || at != off || slices.Contains(offs, off) {
				t.Errorf("%s: no bytes at %d are found at %d (%t)", name, off, at, ok)
			}
			offs = append(offs, off)
		}
		for _, size := range []int64{100, 5000, 100_000} {
			off, mem, err := h.Alloc(size, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range [][2]int64{{off, size + 1}, {off + 1, size}, {off, -1}, {off + size, 1}, {-1, 1}, {1 << 62, 1}, {off, 1<<63 - 1}} {
				if _, err := h.Memory(bad[0], bad[1]); !has(err, class.RMARange) {
					t.Errorf("%s: %d bytes at %d of a block of %d at %d: %v", name, bad[1], bad[0], size, off, err)
				}
			}
			if at, ok := h.Find(mem[10:20]); !ok || at != off+10 {
				t.Errorf("%s: a part of a block is found at %d (%t), want %d", name, at, ok, off+10)
			}
			if _, ok := h.Base(mem[10:20]); ok {
				t.Errorf("%s: the middle of a block is a block", name)
			}
			for _, bad := range []int64{off + 64, off - 1, off + size, -1, 1 << 62, -1 << 63} {
				if err := h.Free(bad); !has(err, class.Base) {
					t.Errorf("%s: free at %d of a block at %d: %v", name, bad, off, err)
				}
			}
			if err := h.Free(off); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := h.Free(off); !has(err, class.Base) {
				t.Errorf("%s: second free: %v", name, err)
			}
			if _, ok := h.Find(mem); ok {
				t.Errorf("%s: a block that was freed is found", name)
			}
		}
		for _, mem := range [][]byte{nil, {}, make([]byte, 1000)} {
			if _, ok := h.Find(mem); ok {
				t.Errorf("%s: other memory is found", name)
			}
		}
	}
}

// MEM-04: if memory runs out while a block is being allocated, the part that was allocated is
// freed.
func TestMEM04NothingIsLeftOfWhatFailed(t *testing.T) {
	for name, open := range backings(t) {
		looks := 0
		h := open(&Budget{look: func() Room {
			looks++
			if looks < 4 {
				return Room{1 << 30, "available"}
			}
			return Room{1 << 20, "available now"}
		}})
		if _, _, err := h.Alloc(100<<20, 0); !has(err, class.NoMem) {
			t.Errorf("%s: %v", name, err)
		}
		if n, size := h.Live(); n != 0 || size != 0 || looks != 4 {
			t.Errorf("%s: %d blocks with %d bytes are left after %d looks", name, n, size, looks)
		}
		looks = 0
		b, err := allocate(h, 1<<20, 0, 1)
		if err == nil {
			err = b.release(h)
		}
		if err != nil {
			t.Errorf("%s: then %v", name, err)
		}
	}
}

// X-RMA-14: the alignment may be any power of two up to maxAlign.
func TestXRMA14Alignment(t *testing.T) {
	for name, open := range backings(t) {
		h := open(NewBudget())
		for align := int64(1); align <= maxAlign; align <<= 1 {
			if align > 1<<22 && name == "loose" {
				break // Go clears what is left out, too
			}
			for _, size := range []int64{1, 100, 4096, 100_000} {
				b, err := allocate(h, size, align, 1)
				if err == nil {
					err = b.release(h)
				}
				if err != nil {
					t.Errorf("%s: %d bytes at a multiple of %d: %v", name, size, align, err)
				}
			}
		}
	}
}

// BenchmarkBlocks allocates and frees small blocks: each window needs a few, and a program may
// have thousands of windows.
func BenchmarkBlocks(b *testing.B) {
	for name, open := range backings(b) {
		for _, size := range []int64{64, 1000, 4096, 65536} {
			b.Run(fmt.Sprintf("%s,size=%d", name, size), func(b *testing.B) {
				h := open(NewBudget())
				var offs []int64
				for range 10000 {
					off, _, err := h.Alloc(512, 0)
					if err != nil {
						b.Fatal(err)
					}
					offs = append(offs, off)
				}
				for b.Loop() {
					off, _, err := h.Alloc(size, 0)
					if err == nil {
						err = h.Free(off)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				for _, off := range offs {
					h.Free(off)
				}
			})
		}
	}
}
