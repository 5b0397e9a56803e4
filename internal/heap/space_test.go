package heap

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

const testPage = 4096

// oracle is a simple model of a space: the owner of each granule, and the number of live
// blocks that touch each page.
type oracle struct {
	owner []int // by granule, 0 for nobody
	pages []int // by page
}

func newOracle(size int64) *oracle {
	return &oracle{make([]int, size/granule), make([]int, size/testPage)}
}

// change records the allocation or release of a block: its granules change their owner from
// from to to. It returns the pages that come into use or go out of use, which are adjacent.
func (o *oracle) change(off, size int64, from, to int) (span, error) {
	for g := off / granule; g < (off+size)/granule; g++ {
		if o.owner[g] != from {
			return span{}, fmt.Errorf("the granule at %d belongs to block %d, not to %d", g*granule, o.owner[g], from)
		}
		o.owner[g] = to
	}
	changed := span{-1, -1}
	for p := off / testPage; p*testPage < off+size; p++ {
		was := o.pages[p]
		if to != 0 {
			o.pages[p]++
		} else {
			o.pages[p]--
		}
		if was == 0 || o.pages[p] == 0 {
			if changed.off < 0 {
				changed.off = p * testPage
			} else if changed.end != p*testPage {
				return span{}, fmt.Errorf("pages %d and %d change, and one between them does not", changed.end/testPage-1, p)
			}
			changed.end = (p + 1) * testPage
		}
	}
	if changed.off < 0 {
		return span{}, nil
	}
	return changed, nil
}

// hole returns the size of the largest free run of granules, and the free size in all.
func (o *oracle) hole() (largest, free int64) {
	run := int64(0)
	for _, who := range o.owner {
		if who != 0 {
			run = 0
			continue
		}
		run += granule
		free += granule
		largest = max(largest, run)
	}
	return largest, free
}

// check checks the invariants of the tree: the extents cover the range, none is empty, no two
// free ones are adjacent, ranks have the heap order, and rooms are right.
func (s *space) check(size int64) error {
	at, free := int64(0), false
	left := int64(0)
	var err error
	s.all.root.each(func(e *extent) {
		if err != nil {
			return
		}
		switch {
		case e.off != at || e.size <= 0 || e.off%granule != 0 || e.size%granule != 0:
			err = fmt.Errorf("extent of %d bytes at %d, the one before ends at %d", e.size, e.off, at)
		case e.free && free:
			err = fmt.Errorf("two free extents touch at %d", at)
		}
		at, free = e.end(), e.free
		if e.free {
			left += e.size
		}
		room := int64(0)
		if e.free {
			room = e.size
		}
		for _, c := range []*extent{e.left, e.right} {
			if c != nil {
				room = max(room, c.room)
				if c.rank > e.rank {
					err = fmt.Errorf("the extent at %d stands below the one at %d", e.off, c.off)
				}
			}
		}
		if room != e.room {
			err = fmt.Errorf("room %d below %d, want %d", e.room, e.off, room)
		}
	})
	if err == nil && (at != size || left != s.left) {
		err = fmt.Errorf("extents end at %d of %d, %d bytes are free, want %d", at, size, s.left, left)
	}
	return err
}

// history runs steps on a space of size bytes and compares it with the oracle. Each step is 3
// bytes: the operation and its size.
func history(size, base int64, steps []byte) error {
	s, o := newSpace(size, testPage, base), newOracle(size)
	type live struct {
		e    *extent
		name int
	}
	var blocks []live
	for n := 1; len(steps) >= 3; n, steps = n+1, steps[3:] {
		kind, a, b := steps[0], int64(steps[1]), int64(steps[2])
		if kind%8 < 3 && len(blocks) > 0 {
			k := int(a<<8|b) % len(blocks)
			e := blocks[k].e
			off, length := e.off, e.size
			if s.block(off) != e || s.block(off+length-1) != e {
				return fmt.Errorf("step %d: the block at %d is not found", n, off)
			}
			want, err := o.change(off, length, blocks[k].name, 0)
			if err != nil {
				return err
			}
			if got := s.release(e); got.size() != want.size() || got.size() > 0 && got != want {
				return fmt.Errorf("step %d: pages %v go out of use, want %v", n, got, want)
			}
			if s.block(off) != nil {
				return fmt.Errorf("step %d: a free block is found", n)
			}
			blocks = slices.Delete(blocks, k, k+1)
		} else {
			want := (a<<8 | b) + 1
			switch kind % 8 {
			case 3, 4: // small
				want = want%700 + 1
			case 5: // about a page
				want = testPage + want%129 - 64
			case 6: // many pages
				want *= 3
			}
			align := int64(1) << (kind >> 3 % 16)
			e, fresh := s.alloc(want, align)
			largest, free := o.hole()
			if e == nil {
				// A block that fits even with the greatest loss by alignment is never refused.
				if need := s.extentOf(want) + max(align, testPage); largest >= need {
					return fmt.Errorf("step %d: no room for %d at a multiple of %d, the largest hole has %d of %d", n, want, align, largest, free)
				}
			} else {
				if (base+e.off)%align != 0 || e.off%granule != 0 || e.size < want || e.size > up(want, testPage) || e.size >= testPage && e.off%testPage != 0 {
					return fmt.Errorf("step %d: %d bytes at a multiple of %d are at %d+%d, %d bytes", n, want, align, base, e.off, e.size)
				}
				changed, err := o.change(e.off, e.size, 0, n)
				if err != nil {
					return fmt.Errorf("step %d: %v", n, err)
				}
				if fresh.size() != changed.size() || fresh.size() > 0 && fresh != changed {
					return fmt.Errorf("step %d: pages %v come into use, want %v", n, fresh, changed)
				}
				blocks = append(blocks, live{e, n})
			}
		}
		if err := s.check(size); err != nil {
			return fmt.Errorf("step %d: %v", n, err)
		}
	}
	for _, b := range blocks {
		s.release(b.e)
	}
	if root := s.all.root; root == nil || !root.free || root.size != size {
		return fmt.Errorf("when all blocks are free the space is not one hole")
	}
	return nil
}

func TestSpaceAgainstOracle(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		steps := make([]byte, 3*400)
		for i := range steps {
			steps[i] = byte(r.Uint32())
		}
		if r.IntN(3) == 0 { // one operation is more frequent than the others
			for i := 0; i < len(steps); i += 3 {
				if r.IntN(2) == 0 {
					steps[i] = 3
				}
			}
		}
		size := int64(testPage) << r.IntN(9)
		base := int64(r.IntN(1<<20)) * testPage
		if err := history(size, base, steps); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzSpace(f *testing.F) {
	f.Add([]byte{3, 0, 0, 4, 1, 1, 5, 0, 64, 0, 0, 0, 1, 0, 0, 2, 0, 0}, uint8(3))
	f.Add([]byte{6, 10, 0, 6, 10, 0, 0, 0, 0, 6, 10, 0, 0x7b, 0, 1}, uint8(7))
	f.Fuzz(func(t *testing.T, steps []byte, pages uint8) {
		if err := history(testPage*(1+int64(pages)), testPage*int64(pages), steps[:min(len(steps), 3000)]); err != nil {
			t.Fatal(err)
		}
	})
}

// A block of the same size reuses a hole, so that a heap does not grow if blocks are allocated and
// freed in turns.
func TestHolesAreExactFits(t *testing.T) {
	const size = 1 << 30
	for _, want := range []int64{64, 700, 4095, 4096, 5000, 1 << 20} {
		s := newSpace(size, testPage, 0)
		var blocks []*extent
		for range 100 {
			e, _ := s.alloc(want, 0)
			blocks = append(blocks, e)
		}
		lo, hi := blocks[0].off, blocks[0].end()
		for _, b := range blocks {
			lo, hi = min(lo, b.off), max(hi, b.end())
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			k := r.IntN(len(blocks))
			s.release(blocks[k])
			blocks[k], _ = s.alloc(want, 0)
			if blocks[k].off < lo || blocks[k].end() > hi {
				t.Fatalf("a block of %d bytes in a hole of one of that size goes elsewhere, to %d", want, blocks[k].off)
			}
		}
	}
}

// The depth of the tree stays logarithmic for any order of allocations and releases.
func TestDepthIsLogarithmic(t *testing.T) {
	s := newSpace(1<<40, testPage, 0)
	for range 30000 {
		s.alloc(64, 0)
		s.alloc(testPage, 0)
	}
	depth := 0
	var walk func(e *extent, d int)
	walk = func(e *extent, d int) {
		if e != nil {
			depth = max(depth, d)
			walk(e.left, d+1)
			walk(e.right, d+1)
		}
	}
	walk(s.all.root, 1)
	if limit := 5 * bits.Len(60000); depth > limit {
		t.Errorf("60000 blocks stand %d deep, want at most %d", depth, limit)
	}
}

func BenchmarkSpace(b *testing.B) {
	s := newSpace(1<<40, testPage, 0)
	for range 20000 {
		s.alloc(500, 0)
		s.alloc(testPage, 0)
	}
	for b.Loop() {
		e, _ := s.alloc(300, 0)
		s.release(e)
	}
}
