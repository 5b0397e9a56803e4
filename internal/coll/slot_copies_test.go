package coll

import "testing"

// Members that have seen the same times choose the same way to copy blocks of a middle length, the one
// with the lower median of times, and find out when the other one takes less.
func TestXNBC01_WayToCopyByTime(t *testing.T) {
	var members [3]copies
	took := uint64(0) // of the last collective
	collective := func(times [2]uint64, used bool) (way int) {
		if members[0].direct {
			way = 1
		}
		for i := range members {
			if members[i].direct != (way == 1) {
				t.Fatalf("member %d copies in another way than member 0", i)
			}
			members[i].ended(used, took)
		}
		if took = 0; used {
			took = times[way]
		}
		return way
	}
	for _, c := range []struct {
		period int
		times  [2]uint64
		want   int
	}{
		{64, [2]uint64{100, 200}, 0}, {128, [2]uint64{200, 100}, 1}, {256, [2]uint64{100, 200}, 0},
		{512, [2]uint64{200, 100}, 1}, {512, [2]uint64{100, 200}, 0},
	} {
		var ways [2]int
		for i := range c.period {
			times := c.times
			switch i % trials {
			case 1, 4: // some member got its core late
				times = [2]uint64{1000, 1000}
			case 2: // all members happened to get their cores in the best order
				times = [2]uint64{50, 50}
			}
			ways[collective(times, true)]++
			collective(times, false)
		}
		if other := ways[1-c.want]; other != trials {
			t.Errorf("of %d collectives that take %d and %d ns, %d went the slower way, want %d", c.period, c.times[0], c.times[1], other, trials)
		}
	}
}
