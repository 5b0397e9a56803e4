package heap

import (
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/halo-mpi/halo/internal/node/sparse"
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	testStart = 1 << 16  // offset of the heap in its file
	testSize  = 16 << 30 // size of the heap, which may exceed the memory of the machine
)

// memfd makes a memory file and its mapping for a heap, which exist until the end of the test.
func memfd(t testing.TB) (*os.File, *sparse.Mapping) {
	t.Helper()
	f, err := sys.Sparse("halo-heap", testStart, testSize, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := sparse.New(f, testStart, testSize, 1<<16, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mem.Release()
		f.Close()
	})
	return f, mem
}

func overFile(f *os.File, mem *sparse.Mapping, budget *Budget) *Heap {
	return newHeap(&shared{open: func() (*os.File, int64, *sparse.Mapping, error) { return f, testStart, mem, nil }}, budget)
}

func addShared(t testing.TB, all map[string]func(*Budget) *Heap) {
	all["shared"] = func(b *Budget) *Heap {
		f, mem := memfd(t)
		return overFile(f, mem, b)
	}
}

// used returns how many bytes of the file are allocated.
func used(t testing.TB, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// Exactly the pages that live blocks touch are allocated: a page is allocated when Alloc returns
// the first block on it, and freed with the last block on it.
func TestPagesComeAndGoWithBlocks(t *testing.T) {
	f, mem := memfd(t)
	h := overFile(f, mem, NewBudget())
	page := int64(os.Getpagesize())
	pages := map[int64]int{}
	touch := func(off, size int64, n int) {
		size = max(size, 1)
		for p := off / page; p*page < off+size; p++ {
			pages[p] += n
			if pages[p] == 0 {
				delete(pages, p)
			}
		}
	}
	r := rand.New(rand.NewPCG(9, 9))
	type block struct{ off, size int64 }
	var blocks []block
	for step := range 4000 {
		if r.IntN(5) < 2 && len(blocks) > 0 {
			k := r.IntN(len(blocks))
			if err := h.Free(blocks[k].off); err != nil {
				t.Fatal(err)
			}
			touch(blocks[k].off, blocks[k].size, -1)
			blocks = slices.Delete(blocks, k, k+1)
		} else {
			size := max(randomSize(r), 0)
			off, _, err := h.Alloc(size, 1<<r.IntN(15))
			if err != nil {
				t.Fatal(err)
			}
			touch(off, size, 1)
			blocks = append(blocks, block{off, size})
		}
		if got, want := used(t, f), int64(len(pages))*page; got != want {
			t.Fatalf("step %d: %d bytes are in use, want %d", step, got, want)
		}
	}
	for _, b := range blocks {
		if err := h.Free(b.off); err != nil {
			t.Fatal(err)
		}
	}
	if got := used(t, f); got != 0 {
		t.Errorf("%d bytes are in use at the end", got)
	}
}

// A block is zeroed even if a peer has stored to its memory while the memory was free.
func TestBlockIsZeroWhoeverWroteThereBefore(t *testing.T) {
	f, mem := memfd(t)
	h := overFile(f, mem, NewBudget())
	peer, err := sparse.New(f, testStart, testSize, 1<<16, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Release()
	for _, size := range []int64{64, 4000, 5000, 1 << 20} {
		first, err := allocate(h, size, 0, 1)
		if err == nil {
			err = first.release(h)
		}
		if err != nil {
			t.Fatal(err)
		}
		there, err := peer.Use().Memory(first.off, size)
		if err != nil {
			t.Fatal(err)
		}
		for i := range there {
			there[i] = 2
		}
		again, err := allocate(h, size, 0, 3) // checks that every byte is zero
		if err == nil && again.off != first.off {
			t.Errorf("a block of %d bytes at %d comes back at %d: another test is needed", size, first.off, again.off)
		}
		if err == nil {
			err = again.release(h)
		}
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// MEM-04: pages that were allocated before memory ran out are freed.
func TestMEM04PagesOfWhatFailedAreGone(t *testing.T) {
	f, mem := memfd(t)
	looks := 0
	h := overFile(f, mem, &Budget{look: func() Room {
		looks++
		if looks < 4 {
			return Room{1 << 30, "available"}
		}
		return Room{0, "available now"}
	}})
	if _, _, err := h.Alloc(100<<20, 0); err == nil {
		t.Error("no error")
	}
	if got := used(t, f); got != 0 {
		t.Errorf("%d bytes are in use", got)
	}
}

// A heap that cannot be opened refuses every block, and a heap refuses blocks that exceed its size.
func TestMEM04HeapThatIsNotThere(t *testing.T) {
	opens := 0
	h := newHeap(&shared{open: func() (*os.File, int64, *sparse.Mapping, error) {
		opens++
		return nil, 0, nil, os.ErrClosed
	}}, NewBudget())
	for range 2 {
		if _, _, err := h.Alloc(64, 0); err == nil {
			t.Error("no error")
		}
	}
	if _, ok := h.Find(make([]byte, 1)); ok || opens != 2 {
		t.Errorf("memory is found: %t, %d times opened", ok, opens)
	}
	f, _ := memfd(t)
	if mem, err := sparse.New(f, testStart, 1<<16, 1<<16, 1); err != nil {
		t.Fatal(err)
	} else {
		defer mem.Release()
		h = overFile(f, mem, NewBudget())
	}
	if _, _, err := h.Alloc(1<<16+1, 0); err == nil {
		t.Error("more than there is: no error")
	}
	off, _, err := h.Alloc(1<<16, 0)
	if err != nil {
		t.Errorf("all that there is: %v", err)
	}
	if _, _, err := h.Alloc(1, 0); err == nil {
		t.Error("one more byte: no error")
	}
	if err := h.Free(off); err != nil {
		t.Error(err)
	}
}
