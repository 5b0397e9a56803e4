package file

import (
	"math/bits"
	"sync/atomic"
)

// coverage says which bytes of a domain members access: a bit for each grain, in memory that all
// members set bits in at the same time. A grain is a power of two that divides the ends of all runs
// of all members, so that a bit is exact.
//
// Rejected: lists of runs from all members, merged by their aggregator. With interleaved blocks of 16
// bytes the aggregator takes more time for the list than for the data.
type coverage struct {
	words []uint64 // accessed by atomic operations while several members may use them
	shift uint8    // a grain has 1<<shift bytes
}

// grains is the largest grain, as a power of two: domains begin at its multiples.
const grains = 12 // pageSize

// shiftOf is the grain for numbers whose lower bits are those of x.
func shiftOf(x int64) uint8 { return uint8(min(bits.TrailingZeros64(uint64(x)), grains)) }

// coverageBytes is the memory for the coverage of a domain of n bytes.
func coverageBytes(n int64) int64 { return (n + 63) / 64 * 8 }

// marker sets the bits of runs of one member. It collects the bits of a word, since other members
// may set bits in the same word.
type marker struct {
	c    *coverage
	word int64
	mask uint64
}

// runs sets the bits of runs in a domain from byte base on.
func (m *marker) runs(list []run, base int64) {
	shift, word, mask := m.c.shift&63, m.word, m.mask
	for _, r := range list {
		lo, hi := (r.Off-base)>>shift, (r.Off+r.Len-base)>>shift
		if lo>>6 == word && hi>>6 == word {
			mask |= (1<<(uint64(hi-lo)&63) - 1) << (uint64(lo) & 63)
			continue
		}
		m.mask = mask
		m.mark(r.Off-base, r.Off+r.Len-base)
		word, mask = m.word, m.mask
	}
	m.mask = mask
}

// mark sets the bits of the bytes [lo, hi) of the domain.
func (m *marker) mark(lo, hi int64) {
	lo, hi = lo>>m.c.shift, hi>>m.c.shift
	for lo < hi {
		if w := lo >> 6; w != m.word {
			m.flush()
			m.word = w
		}
		n := min(hi-lo, 64-lo&63)
		m.mask |= ^uint64(0) >> (64 - n) << (lo & 63)
		lo += n
	}
}

func (m *marker) flush() {
	switch m.mask {
	case 0:
		return
	case ^uint64(0):
		atomic.StoreUint64(&m.c.words[m.word], m.mask)
	default:
		atomic.OrUint64(&m.c.words[m.word], m.mask)
	}
	m.mask = 0
}

// next returns the first run of bytes from at on. Runs with holes of at most hole bytes between them
// count as one. lo is end if there is none.
func (c *coverage) next(at, end, hole int64) (lo, hi int64) {
	first, last, gap := at>>c.shift, (end+1<<c.shift-1)>>c.shift, hole>>c.shift
	lo = c.seek(first, last, 0)
	hi = lo
	for hi < last {
		hi = c.seek(hi, last, ^uint64(0))
		after := c.seek(hi, last, 0)
		if after == last || after-hi > gap {
			break
		}
		hi = after
	}
	return min(lo<<c.shift, end), min(hi<<c.shift, end)
}

// seek returns the first bit from at on that is not as in the word skip, which is all zeros or all ones;
// end if there is none before.
func (c *coverage) seek(at, end int64, skip uint64) int64 {
	for at < end {
		if w := (atomic.LoadUint64(&c.words[at>>6]) ^ skip) >> (at & 63); w != 0 {
			return min(at+int64(bits.TrailingZeros64(w)), end)
		}
		at = (at | 63) + 1
	}
	return end
}

// clear clears the bits of the first n bytes, while no other member uses them.
func (c *coverage) clear(n int64) { clear(c.words[:(n>>c.shift+63)>>6]) }
