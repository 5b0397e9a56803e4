package node_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/nodetest"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

func has(err error, c class.Class) bool {
	var e *class.Error
	return errors.As(err, &e) && e.Class == c
}

// MEM-06: peers map a block of a process at its offset, each at another address, and the process loads
// what they store.
func TestMEM06PeersMapWhatAProcessAllocates(t *testing.T) {
	f := nodetest.New(t, 3).Start(t)
	for owner := range f {
		for _, size := range []int64{1, 64, 5000, 3 << 20} {
			off, mem, err := f[owner].Alloc(size, 0)
			if err != nil {
				t.Fatal(err)
			}
			for peer := range f {
				seen, err := f[peer].View(owner).Memory(off, size)
				if err != nil || int64(len(seen)) != size || int64(cap(seen)) != size {
					t.Fatalf("process %d sees %d bytes of %d: %v", peer, len(seen), size, err)
				}
				if (peer == owner) != (unsafe.SliceData(seen) == unsafe.SliceData(mem)) {
					t.Errorf("process %d sees a block of %d at %p, it is at %p there", peer, owner, seen, mem)
				}
				if want := byte(peer); seen[0] != want || seen[size-1] != want {
					t.Errorf("process %d sees %d and %d, want %d", peer, seen[0], seen[size-1], want)
				}
				seen[0]++
				if size > 1 {
					seen[size-1]++
				}
			}
			if mem[0] != 3 || mem[size-1] != 3 {
				t.Errorf("three have added 1, and there are %d and %d", mem[0], mem[size-1])
			}
			if err := f[owner].Free(off); err != nil {
				t.Error(err)
			}
		}
	}
}

// Offsets outside of the heap, and peers that do not exist, are errors.
func TestMemoryIsOfTheHeap(t *testing.T) {
	f := nodetest.New(t, 2).Start(t)
	if _, _, err := f[1].Alloc(100, 0); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]int64{{-1, 1}, {0, -1}, {nodetest.HeapSize, 1}, {nodetest.HeapSize - 1, 2}, {1<<63 - 1, 1}, {1, 1<<63 - 1}, {-1 << 63, 0}} {
		for peer := range 2 {
			if mem, err := f[0].View(peer).Memory(at[0], at[1]); !has(err, class.RMARange) {
				t.Errorf("%d bytes at offset %d of process %d: %d bytes, %v", at[1], at[0], peer, len(mem), err)
			}
		}
	}
	for _, at := range [][2]int64{{0, 0}, {0, nodetest.HeapSize}, {nodetest.HeapSize, 0}, {nodetest.HeapSize - 1, 1}} {
		if mem, err := f[0].View(1).Memory(at[0], at[1]); err != nil || int64(len(mem)) != at[1] {
			t.Errorf("%d bytes at offset %d: %d bytes, %v", at[1], at[0], len(mem), err)
		}
	}
	for _, peer := range []int{-1, 2, 1 << 40} {
		if _, err := f[0].View(peer).Memory(0, 1); !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("process %d: %v", peer, err)
		}
	}
	if err := f[0].Free(0); !has(err, class.Base) {
		t.Errorf("free of a peer's block: %v", err)
	}
}

// A heap is mapped once, also if several goroutines use it first at the same time.
func TestHeapsAreMappedOnce(t *testing.T) {
	f := nodetest.New(t, 2).Start(t)
	off, mem, err := f[1].Alloc(8, 0)
	if err != nil {
		t.Fatal(err)
	}
	mem[0] = 7
	places := make([]*byte, 8)
	var all sync.WaitGroup
	for g := range places {
		all.Go(func() {
			seen, err := f[0].View(1).Memory(off, 8)
			if err != nil || seen[0] != 7 {
				t.Errorf("%v, %v", seen, err)
				return
			}
			places[g] = &seen[0]
			if _, _, err := f[0].Alloc(1000, 0); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range places {
		if p != places[0] {
			t.Fatal("a heap was mapped twice")
		}
	}
}

// A segment may have no heap, if the launcher could not make one.
func TestSegmentWithoutAHeap(t *testing.T) {
	h := nodetest.New(t, 2)
	short, err := sys.Memfd("halo-test-short", shmfmt.SegmentSize(2))
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	h.Files[2].Close()
	h.Files[2] = short
	f := h.Start(t)
	if _, err := f[0].View(1).Memory(0, 1); err == nil || has(err, class.RMARange) {
		t.Errorf("a peer without a heap: %v", err)
	}
	if _, _, err := f[1].Alloc(1, 0); !has(err, class.NoMem) {
		t.Errorf("a process without a heap: %v", err)
	}
	if f[0].Segment(1) == nil {
		t.Error("the rest of the segment of a peer without a heap is not mapped")
	}
}

// Where address space is limited, a part of a heap is mapped. A process uses that part of its own heap.
// Of a peer's heap it maps small blocks, and gets an error for blocks that are not mapped.
func TestHeapIsMappedAsFarAsItFits(t *testing.T) {
	h := nodetest.New(t, 2)
	f := h.Start(t)
	small, _, err := f[0].Alloc(1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	large, _, err := f[0].Alloc(1<<20, 0)
	if err != nil {
		t.Fatal(err)
	}
	const free = 4 << 30
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &old); err != nil {
		t.Fatal(err)
	}
	limit := old
	limit.Cur = addressesInUse(t) + free
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	seen, errSmall := f[1].View(0).Memory(small, 1000)
	_, errLarge := f[1].View(0).Memory(large, 1<<20)
	_, errBeyond := f[1].View(0).Memory(nodetest.HeapSize, 1)
	off, mem, err := f[1].Alloc(1<<20, 0)
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &old); err != nil {
		t.Fatal(err)
	}
	if errSmall != nil || len(seen) != 1000 {
		t.Errorf("a small block of a peer: %d bytes, %v", len(seen), errSmall)
	}
	if !errors.Is(errLarge, fabric.ErrUnsupported) {
		t.Errorf("%d bytes can be mapped, and there is memory beyond: %v", free, errLarge)
	}
	if !has(errBeyond, class.RMARange) {
		t.Errorf("beyond the heap: %v", errBeyond)
	}
	if err != nil {
		t.Fatal(err)
	}
	mem[1<<20-1] = 1
	if _, err := f[1].View(1).Memory(off, 1<<20); err != nil {
		t.Error(err)
	}
}

// Release frees descriptors and mappings, also if calls may be in progress.
func TestReleaseGivesTheHeapBack(t *testing.T) {
	for _, watched := range []bool{false, true} {
		h := nodetest.New(t, 2)
		f, err := node.Open(&nodetest.Process{Host: h})
		if err != nil {
			t.Fatal(err)
		}
		_, mem, err := f.Alloc(1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		mem[5] = 5
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := f.Release(watched); err != nil {
			t.Errorf("watched %t: %v", watched, err)
		}
		if watched && mem[5] != 0 {
			t.Errorf("who still looks sees %d", mem[5])
		}
	}
}

// A heap is mapped at its first use, and is not part of core dumps, which would allocate all of its
// pages.
func TestHeapsAreMappedWhenTheyAreUsed(t *testing.T) {
	h := nodetest.New(t, 3)
	f := h.Start(t)
	f[0].Segment(1)
	if maps := heapMaps(t); len(maps) != 0 {
		t.Errorf("before they are used heaps are mapped: %v", maps)
	}
	off, _, err := f[1].Alloc(8, 0)
	if err == nil {
		_, err = f[0].View(1).Memory(off, 8)
	}
	if err != nil {
		t.Fatal(err)
	}
	maps := heapMaps(t)
	if len(maps) != 2 {
		t.Errorf("%d mappings of heaps, want one of the owner and one of the peer", len(maps))
	}
	for _, flags := range maps {
		if !slices.Contains(strings.Fields(flags), "dd") {
			t.Errorf("a heap is part of core dumps: %s", flags)
		}
	}
}

// heapMaps returns the flags of the mappings of heaps in this process.
func heapMaps(t *testing.T) (flags []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	start, heap := fmt.Sprintf(" %08x ", shmfmt.HeapStart(3)), false
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "memfd:halo-test-") {
			heap = strings.Contains(line, start)
		} else if f, ok := strings.CutPrefix(line, "VmFlags:"); ok && heap {
			flags, heap = append(flags, f), false
		}
	}
	return flags
}

// addressesInUse returns how many bytes this process has mapped.
func addressesInUse(t *testing.T) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages := uint64(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		pages = 10*pages + uint64(c-'0')
	}
	return pages * uint64(os.Getpagesize())
}
