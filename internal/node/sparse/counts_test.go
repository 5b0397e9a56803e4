package sparse

import (
	"math/rand/v2"
	"testing"
)

// The counts equal those of a simple array, and have as few steps as possible.
func TestCountsAreThoseOfASimpleArray(t *testing.T) {
	const size = 60
	r := rand.New(rand.NewPCG(1, 19))
	for range 40 {
		var c counts
		var want [size + 1]int32 // the last element stays 0
		type piece struct{ off, end int64 }
		var live []piece
		for range 60 {
			if len(live) > 0 && r.IntN(3) == 0 {
				k := r.IntN(len(live))
				p := live[k]
				live = append(live[:k], live[k+1:]...)
				c.add(p.off, p.end, -1)
				for i := p.off; i < p.end; i++ {
					want[i]--
				}
			} else {
				off := r.Int64N(size)
				p := piece{off, off + r.Int64N(size-off+1)}
				live = append(live, p)
				c.add(p.off, p.end, 1)
				for i := p.off; i < p.end; i++ {
					want[i]++
				}
			}
			changes := 0
			for i := range want {
				if i > 0 && want[i] != want[i-1] {
					changes++
				}
			}
			if len(c) > changes+1 {
				t.Fatalf("%d steps for %d changes: %v", len(c), changes, c)
			}
			from := r.Int64N(size)
			to := from + r.Int64N(size-from+1)
			for n := range int32(4) {
				var seen [size]bool
				last := int64(-1)
				c.each(from, to, n, func(off, end int64) error {
					if off >= end || off < from || end > to || off < last {
						t.Fatalf("part %d to %d of %d to %d after %d", off, end, from, to, last)
					}
					last = end
					for i := off; i < end; i++ {
						seen[i] = true
					}
					return nil
				})
				for i := from; i < to; i++ {
					if seen[i] != (want[i] == n) {
						t.Fatalf("%d is counted %d times, which each(%d) reports as %t: %v", i, want[i], n, seen[i], c)
					}
				}
			}
		}
	}
}
