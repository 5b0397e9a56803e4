package attach

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/apply"
)

// RW-05: random pieces of one memory are attached and detached. Overlap, Find and Gap agree with a
// map of attached bytes.
func TestRW05_ListsEqualAMapOfBytes(t *testing.T) {
	const n = 96
	mem := make([]byte, n+1)
	base := uint64(uintptr(unsafe.Pointer(&mem[0])))
	g := rand.New(rand.NewPCG(5, 12))
	for range 2000 {
		var l List
		begins, has := map[int]int{}, [n + 1]bool{}
		for range 60 {
			at := g.IntN(n)
			size := g.IntN(min(20, n-at) + 1)
			if length, ok := begins[at]; ok && g.IntN(2) == 0 {
				if !l.Begins(base + uint64(at)) {
					t.Fatalf("no region begins at %d", at)
				}
				l.Delete(base + uint64(at))
				delete(begins, at)
				clear(has[at : at+length])
				continue
			}
			_, overlaps := begins[at]
			for b, length := range begins {
				overlaps = overlaps || b < at+size && at < b+length
			}
			if got := l.Overlap(base+uint64(at), size); (got != nil) != overlaps {
				t.Fatalf("%d bytes at %d overlap %v, want %v, with %v", size, at, got, overlaps, begins)
			}
			if !overlaps {
				l.Insert(&Region{Addr: base + uint64(at), Memory: apply.Region{Mem: mem[at : at+size : at+size]}})
				begins[at] = size
				for i := range size {
					has[at+i] = true
				}
			}
		}
		if len(l.Regions()) != len(begins) {
			t.Fatalf("%d regions, want %d", len(l.Regions()), len(begins))
		}
		for range 30 {
			at := g.IntN(n)
			size := 1 + g.IntN(n-at)
			gap := at
			for gap <= n && has[gap] {
				gap++
			}
			if got := l.Gap(base + uint64(at)); got != base+uint64(gap) {
				t.Fatalf("the first gap from %d on is at %d, want %d", at, got-base, gap)
			}
			r := l.Find(base+uint64(at), uint64(size))
			if (r != nil) != (gap >= at+size) {
				t.Fatalf("%d bytes at %d: found %v, and the first gap is at %d", size, at, r, gap)
			}
			if r != nil && (r.Addr > base+uint64(at) || r.End() < base+uint64(at+size) || &r.Memory.Mem[0] != &mem[r.Addr-base]) {
				t.Fatalf("%d bytes at %d are not in what is found: %d to %d", size, at, r.Addr-base, r.End()-base)
			}
		}
	}
}
