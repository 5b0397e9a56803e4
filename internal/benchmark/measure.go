package benchmark

import (
	"slices"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// The method of measuring, number by number as in bench/halobench.c.
const (
	warmTime = 5 * time.Millisecond  // a calibrating run must take this before its count is believed
	repTime  = 20 * time.Millisecond // one measured run shall take this
	slowTime = 40 * time.Millisecond // a measured run that takes this is the last
	minIters = 4                     // iterations of a measured run, however slow
	maxIters = 10000000
	reps     = 5 // measured runs; odd, for the median
)

// measure returns us per iteration of body, which all ranks run; only rank
// 0's clock counts.
//
// The loop is warmed up and calibrated at once: it runs with growing iteration
// counts until a run takes warmTime, and does so once more (the first message
// of a pair may take that long alone); the count is then scaled to repTime.
// Time decides, not a table: a barrier takes 0.3 us with one MPI and 40 ms with
// another.
//
// A plan in haste is measured as if all took so many times longer.
func (p *Plan) measure(world *mpi.Comm, body func(n int) error) (float64, error) {
	haste := max(p.haste, 1)
	next := []int64{1, 0} // iterations of the next run; is it a measured one
	slow := 0             // runs of this count that took warmTime
	for next[1] == 0 {
		t, err := timed(world, body, int(next[0]))
		if err != nil {
			return 0, err
		}
		if t *= haste; world.Rank() == 0 {
			if slow++; t < warmTime && next[0] < maxIters {
				slow = 0
			}
			next[0] = calibrate(next[0], t, slow)
			if slow == 2 {
				next[1] = 1
			}
		}
		if err := mpi.Bcast(world, next, 0); err != nil {
			return 0, err
		}
	}
	n := int(next[0])
	var per []float64
	enough := []bool{false}
	for len(per) < reps && !enough[0] {
		t, err := timed(world, body, n)
		if err != nil {
			return 0, err
		}
		per = append(per, micros(t)/float64(n))
		enough[0] = t*haste > slowTime
		if err := mpi.Bcast(world, enough, 0); err != nil {
			return 0, err
		}
	}
	return median(per), nil
}

// calibrate says how many iterations the next run makes, n having taken t and
// being slow for the slow-th time.
func calibrate(n int64, t time.Duration, slow int) int64 {
	scaled := float64(n)
	switch slow {
	case 0:
		scaled *= 10
		if t > 0 {
			grown := float64(n) * 1.2 * float64(warmTime) / float64(t)
			scaled = min(max(grown, 2*float64(n)), scaled)
		}
	case 2:
		scaled = max(scaled*float64(repTime)/float64(t), minIters)
	}
	return int64(min(scaled, maxIters))
}

func timed(world *mpi.Comm, body func(n int) error, n int) (time.Duration, error) {
	if err := world.Barrier(); err != nil {
		return 0, err
	}
	start := time.Now()
	err := body(n)
	return time.Since(start), err
}

func micros(t time.Duration) float64 { return float64(t) / float64(time.Microsecond) }

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
