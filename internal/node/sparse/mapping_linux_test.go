package sparse

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/internal/sys"
)

func TestMain(m *testing.M) { leak.Main(m) }

// pages is how many a mapping of a test has.
const pages = 64

func newMapping(t *testing.T, peers int) *Mapping {
	t.Helper()
	page := int64(os.Getpagesize())
	f, err := sys.Memfd("halo-sparse", (pages+1)*page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := New(f, page, pages*page, page, peers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Release() })
	return m
}

// open says which pages of m the kernel lets this process access, and whether core dumps
// leave all of them out.
func open(t *testing.T, m *Mapping) (can [pages]bool, left bool) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(m.mem)))
	left = true
	var lo, hi uintptr
	ours := false
	for line := range strings.Lines(string(text)) {
		var perm string
		if n, _ := fmt.Sscanf(line, "%x-%x %s ", &lo, &hi, &perm); n == 3 {
			ours = lo >= start && hi <= start+uintptr(len(m.mem))
			for at := lo; ours && at < hi; at += uintptr(m.page) {
				can[(at-start)/uintptr(m.page)] = strings.HasPrefix(perm, "rw")
			}
		} else if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && ours {
			left = left && strings.Contains(flags+" ", " dd ")
		}
	}
	return can, left
}

// Pages are open as long as somebody has opened them, and no others are.
func TestPagesAreOpenAsLongAsTheyAreUsed(t *testing.T) {
	m := newMapping(t, 1)
	r := rand.New(rand.NewPCG(2, 19))
	var want [pages]int
	count := func(off, size int64, n int) {
		for p := off / m.page; size > 0 && p*m.page < off+size; p++ {
			want[p] += n
		}
	}
	random := func() (off, size int64) {
		off = r.Int64N(pages * m.page)
		return off, min(r.Int64N(8*m.page), pages*m.page-off)
	}
	type piece struct{ off, size int64 }
	var live []piece
	uses := make([]*Use, 3)
	mine := make([]map[int64]bool, len(uses))
	for step := range 80 {
		k := r.IntN(len(uses))
		switch r.IntN(6) {
		case 0, 1:
			off, size := random()
			if err := m.Open(off, size); err != nil {
				t.Fatal(err)
			}
			live = append(live, piece{off, size})
			count(off, size, 1)
		case 2:
			if len(live) > 0 {
				p := live[0]
				live = live[1:]
				m.Close(p.off, p.size)
				count(p.off, p.size, -1)
			}
		case 3, 4:
			if uses[k] == nil {
				uses[k], mine[k] = m.Use(), map[int64]bool{}
			}
			off, size := random()
			mem, err := uses[k].Memory(off, size)
			if err != nil || int64(len(mem)) != size {
				t.Fatalf("%d bytes at %d: %d, %v", size, off, len(mem), err)
			}
			for i := range mem {
				mem[i] = 1
			}
			for p := off / m.page; size > 0 && p*m.page < off+size; p++ {
				if !mine[k][p] {
					mine[k][p] = true
					want[p]++
				}
			}
		case 5:
			if uses[k] != nil {
				uses[k].Close()
				for p := range mine[k] {
					want[p]--
				}
				clear(mine[k])
			}
		}
		can, left := open(t, m)
		for p := range can {
			if can[p] != (want[p] > 0) {
				t.Fatalf("step %d: page %d is used %d times, open %t", step, p, want[p], can[p])
			}
		}
		if !left {
			t.Fatalf("step %d: core dumps take part of it", step)
		}
	}
}

// A mapping that would take too many areas of the kernel's is opened as a whole.
func TestTooManyStepsOpenAll(t *testing.T) {
	m := newMapping(t, 1<<40)
	for p := int64(0); p < pages; p += 2 {
		if err := m.Open(p*m.page, 1); err != nil {
			t.Fatal(err)
		}
		if p == 0 {
			if can, _ := open(t, m); !can[0] || can[1] {
				t.Fatalf("one page is used: %v", can)
			}
		}
	}
	m.most = 8
	use := m.Use()
	for range 2 {
		mem, err := use.Memory(m.page, 2*m.page)
		if err != nil {
			t.Fatal(err)
		}
		mem[0], mem[m.page] = 1, 1
		use.Close()
		m.Close(0, 1)
	}
	can, _ := open(t, m)
	for p := range can {
		if !can[p] {
			t.Errorf("page %d is closed", p)
		}
	}
}

// Whoever may still look where it was open finds zeros, when the memory is given back.
func TestVacatedMemoryIsZeroWhereItWasOpen(t *testing.T) {
	for _, all := range []bool{false, true} {
		m := newMapping(t, 1)
		m.most = 3
		mem, err := m.Use().Memory(m.page, 10)
		if err != nil {
			t.Fatal(err)
		}
		if all {
			m.Open(5*m.page, 1)
			m.Open(7*m.page, 1)
		}
		mem[1] = 1
		if err := m.Clear(); err != nil {
			t.Fatal(err)
		}
		if mem[1] != 0 {
			t.Errorf("who still looks sees %d", mem[1])
		}
		can, _ := open(t, m)
		if can[2] != all {
			t.Errorf("the page behind is open: %t, want %t", can[2], all)
		}
	}
}

// Many goroutines may open, use and close at once.
func TestManyOpenAtOnce(t *testing.T) {
	m := newMapping(t, 1)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 3))
			use := m.Use()
			for range 300 {
				off := r.Int64N((pages - 2) * m.page)
				mem, err := use.Memory(off, m.page)
				if err != nil {
					t.Error(err)
					return
				}
				_ = mem[0] + mem[len(mem)-1]
				if r.IntN(4) == 0 {
					use.Close()
				}
			}
			use.Close()
		})
	}
	all.Wait()
	if can, _ := open(t, m); can != [pages]bool{} {
		t.Errorf("pages are open that nobody uses: %v", can)
	}
}

// What is not of the mapping is a mistake of the caller.
func TestBeyondTheMapping(t *testing.T) {
	m := newMapping(t, 1)
	for _, at := range [][2]int64{{-1, 1}, {0, -1}, {pages * m.page, 1}, {0, pages*m.page + 1}, {1<<63 - 1, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bytes at %d: no panic", at[1], at[0])
				}
			}()
			m.Open(at[0], at[1])
		}()
	}
}
