package slot

import "testing"

// A member chooses the way to copy blocks of a middle length that has the lower median of times, and finds out
// when the other one takes less.
func TestXNBC01_WayToCopyByTime(t *testing.T) {
	var c copies
	for _, phase := range []struct {
		period int
		times  [2]uint64
		want   int
	}{
		{64, [2]uint64{100, 200}, 0}, {128, [2]uint64{200, 100}, 1}, {256, [2]uint64{100, 200}, 0},
		{512, [2]uint64{200, 100}, 1}, {512, [2]uint64{100, 200}, 0},
	} {
		var ways [2]int
		for i := range phase.period {
			times := phase.times
			switch i % Trials {
			case 0: // a part of the members still copied in the other way
				times = [2]uint64{150, 150}
			case 1, 4: // some member got its core late
				times = [2]uint64{1000, 1000}
			case 2: // all members happened to get their cores in the best order
				times = [2]uint64{50, 50}
			}
			way := 0
			if c.direct {
				way = 1
			}
			ways[way]++
			c.took(times[way])
		}
		if other := ways[1-phase.want]; other != Trials {
			t.Errorf("of %d collectives that take %d and %d ns, %d went the slower way, want %d", phase.period, phase.times[0], phase.times[1], other, Trials)
		}
	}
}
