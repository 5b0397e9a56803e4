package benchmark

import (
	"slices"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// The method of measuring has the same constants in bench/halobench.c.
const (
	warmTime = 5 * time.Millisecond  // minimum time of the calibrating run that sets the count
	repTime  = 20 * time.Millisecond // intended time of one measured run
	slowTime = 40 * time.Millisecond // a measured run of this time or more is the last
	minIters = 4                     // minimum number of iterations in a measured run
	maxIters = 10000000
	reps     = 5 // measured runs; odd, for the median

	warmShare = int(repTime / warmTime) // of the iterations of a measured run, before each run of loops in turn
)

// measure returns us per iteration of body, which all ranks run, by the clock of rank 0.
func (p *Plan) measure(world *mpi.Comm, body func(n int) error) (float64, error) {
	us, err := p.measureInTurn(world, body)
	if err != nil {
		return 0, err
	}
	return us[0], nil
}

// measureInTurn is measure for several loops that are compared with each other: it measures one
// run of each in turn, so that a slow phase of the machine affects all of them.
//
// The warm-up of a loop also calibrates it: the loop runs with growing iteration
// counts until a second run takes warmTime (the first message of a pair may take
// that long alone); the count is then scaled to repTime. There is no table of counts,
// because a barrier takes 0.3 us with one MPI and 40 ms with another.
//
// Plan.shorten multiplies the times that are compared with these bounds.
func (p *Plan) measureInTurn(world *mpi.Comm, bodies ...func(n int) error) ([]float64, error) {
	counts := make([]int, len(bodies))
	for i, body := range bodies {
		var err error
		counts[i], err = p.calibrated(world, body)
		if err != nil {
			return nil, err
		}
	}
	per, us := make([][]float64, len(bodies)), make([]float64, len(bodies))
	enough := make([]bool, len(bodies))
	for range reps {
		for i, body := range bodies {
			if enough[i] {
				continue
			}
			if len(bodies) > 1 { // the loop before has filled the caches with its own memory
				if err := body(max(1, counts[i]/warmShare)); err != nil {
					return nil, err
				}
			}
			t, err := timed(world, body, counts[i])
			if err != nil {
				return nil, err
			}
			per[i] = append(per[i], micros(t)/float64(counts[i]))
			us[i] = median(per[i])
			enough[i] = t*max(p.shorten, 1) > slowTime
			if err := mpi.Bcast(world, enough[i:i+1], 0); err != nil {
				return nil, err
			}
		}
	}
	return us, nil
}

// calibrated warms a loop up and returns the number of iterations of a measured run.
func (p *Plan) calibrated(world *mpi.Comm, body func(n int) error) (int, error) {
	next := []int64{1, 0} // iterations of the next run; 1 if it is a measured one
	slow := 0             // number of consecutive runs that took warmTime
	for next[1] == 0 {
		t, err := timed(world, body, int(next[0]))
		if err != nil {
			return 0, err
		}
		t *= max(p.shorten, 1)
		if world.Rank() == 0 {
			slow++
			if t < warmTime && next[0] < maxIters {
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
	return int(next[0]), nil
}

// calibrate returns the number of iterations of the next run, after a run of n iterations
// took t and was the slow-th run that took warmTime.
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
