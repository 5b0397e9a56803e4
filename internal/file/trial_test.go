package file

import "testing"

// Accesses of a shape take the way that took less time in trials, and find out when the other one takes less. A way that takes
// twice as long is tried twice only.
func TestIO01_WayByTime(t *testing.T) {
	var x trialsOf
	for _, began := range []bool{false, true} {
		tr := x.of(shape{d: Write, run: 10}, began)
		if began {
			tr = x.of(shape{d: Write, run: 11}, began)
		}
		for i, c := range []struct {
			period        int
			alone, phases int64
			fast          bool // through aggregators
			slow          int  // accesses that take the slower way
		}{
			{64, 100, 150, false, 4}, {128, 150, 100, true, 4}, {256, 100, 300, false, 0}, {512, 300, 100, true, 0}, {1024, 100, 150, false, 4}, {1024, 120, 100, true, 4},
		} {
			first, slow := tr.phases, 0
			for k := range c.period {
				ns := c.alone
				if tr.phases {
					ns = c.phases
				}
				if tr.phases != c.fast {
					slow++
				}
				switch k {
				case 0, tries: // memory is touched for the first time
					ns += 1000
				case 2: // a member gets its core late
					ns += 50
				}
				tr.ended(ns)
			}
			want := c.slow
			if want == 0 { // the beginning, unless the period has begun with the faster way
				want = tries
				if first == c.fast {
					want = 2
				}
			}
			if slow != want {
				t.Errorf("period %d: of %d accesses that take %d ns alone, %d through aggregators, %d took the slower way, want %d", i, c.period, c.alone, c.phases, slow, want)
			}
		}
	}
}

// A file remembers the shapes of accesses that it has seen last.
func TestIO01_ShapesAreForgotten(t *testing.T) {
	var x trialsOf
	first := x.of(shape{run: 1}, false)
	for run := range shapesMax - 1 {
		x.of(shape{run: 2 + run}, false)
	}
	if x.of(shape{run: 1}, true) != first {
		t.Errorf("of %d shapes the first is forgotten", shapesMax)
	}
	x.of(shape{run: 100}, false)
	if again := x.of(shape{run: 1}, true); again == first || !again.phases || len(x.list) != shapesMax {
		t.Errorf("%d shapes are remembered, want the last %d", len(x.list), shapesMax)
	}
}
