package file

import (
	"math/rand/v2"
	"testing"
)

// The runs of a coverage are the bytes that members have marked, whatever the order and the overlap; with
// holes, runs with short holes between them are one.
func TestIO04_CoverageIsTheUnionOfRuns(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		shift := uint8(r.IntN(grains + 1))
		grain := int64(1) << shift
		size := grain * int64(1+r.IntN(400))
		c := coverage{make([]uint64, coverageBytes(size)/8), shift}
		want := make([]bool, size/grain+1)
		for range r.IntN(6) {
			m := marker{c: &c}
			for range r.IntN(30) {
				lo := r.Int64N(size / grain)
				hi := lo + r.Int64N(min(200, size/grain-lo)+1)
				m.runs([]run{{Off: 1<<40 + lo*grain, Len: (hi - lo) * grain}}, 1<<40)
				for i := lo; i < hi; i++ {
					want[i] = true
				}
			}
			m.flush()
		}
		hole := grain * int64(r.IntN(4))
		got := make([]bool, len(want))
		last := int64(-1)
		for at := int64(0); at < size; {
			lo, hi := c.next(at, size, hole)
			if lo == hi {
				break
			}
			if !want[lo/grain] || !want[hi/grain-1] || last >= 0 && lo-last <= hole {
				t.Fatalf("seed %d: run [%d, %d) behind %d, holes of %d", seed, lo, hi, last, hole)
			}
			gap := int64(0)
			for i := lo / grain; i < hi/grain; i++ {
				gap += grain
				if want[i] {
					gap = 0
				}
				if gap > hole {
					t.Fatalf("seed %d: a hole of more than %d bytes in [%d, %d)", seed, hole, lo, hi)
				}
				got[i] = true
			}
			at, last = hi, hi
		}
		for i, w := range want {
			if w && !got[i] {
				t.Fatalf("seed %d: grain %d is in no run", seed, i)
			}
		}
		c.clear(size)
		if lo, hi := c.next(0, size, 0); lo != hi {
			t.Fatalf("seed %d: [%d, %d) after clear", seed, lo, hi)
		}
	}
}

// The memory of an aggregator does not exceed the hint, but for some pages, however much of the file a
// collective access covers; its domains cover all of it (X-IO-01).
func TestXIO01_MemoryOfAggregatorsIsBounded(t *testing.T) {
	const few = 3 * pageSize
	for _, buffer := range []int64{1, 4096, 100_000, 1 << 20, 4 << 20, 1 << 30} {
		room := roomOf(buffer)
		if used := 2 * halfBytes(room); used > max(buffer, few) {
			t.Errorf("buffers of %d bytes: the stage takes %d", buffer, used)
		}
		for _, end := range []int64{1, 5000, 100 << 30, 1 << 45} {
			for _, aggregators := range []int{1, 3, 64} {
				p := plan{lo: 1 << 41, hi: 1<<41 + end, buffer: room, aggregators: aggregators}
				d := p.domains(aggregators)
				if d.size > max(room, pageSize) {
					t.Errorf("domains of %d bytes, want at most %d", d.size, room)
				}
				if last := d.begin(d.rounds-1, aggregators-1) + d.size; d.lo > p.lo || last < p.hi {
					t.Errorf("domains cover [%d, %d) of [%d, %d)", d.lo, last, p.lo, p.hi)
				}
			}
		}
	}
}
