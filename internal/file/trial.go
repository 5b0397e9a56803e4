package file

import (
	"math/bits"
	"slices"

	"github.com/halo-mpi/halo/internal/planted"
)

// trialsOf chooses between the two ways of collective accesses, by each member for itself or through
// aggregators, where the lengths of runs do not decide: which one takes less time depends on the file system, on
// how many cores the members have, and on whether these share a cache. Accesses of one shape are mostly
// repeated. So the members try both ways in the first accesses of a shape, and again and again later. Each tells all
// others how long its last access has taken, in the allgather that every collective access begins with, and
// all see the longest of these times. So all have the same history, and make the same choice.
//
// The way that the lengths of runs suggest comes first: a program that makes few accesses tries nothing. A way that takes
// twice as long is tried once only in each period.
//
// Rejected: to compute the times of both ways from costs that are measured when the file is opened. An access depends
// on what the caches contain, and on locks of the kernel for writers of one file.
type trialsOf struct {
	list []*trial
	next int    // where the next shape takes the place of another one
	last *trial // of the last access; nil if it belongs to none
	took int64  // ns of the last access of this member
}

const (
	// shapesMax is the number of shapes of accesses that a file remembers.
	shapesMax = 8
	// tries is the number of accesses in which a way is tried. The first one may touch memory for the first time, so
	// it does not count.
	tries = 4
	// firstTrials is the number of accesses after which both ways are tried again. Each period is twice
	// as long as the one before, up to trialPeriod.
	firstTrials = 64
	trialPeriod = 1024
	// tryFactor is the factor between the average length of runs and that which decides, up or down, from which on one way takes
	// several times as long as the other, so that it is not tried.
	tryFactor = 8
)

// shape is what accesses have in common that take about as long: the logarithms of numbers that all members know.
type shape struct {
	d                  Direction
	run, bytes, extent int
}

// shapeOf returns the shape of an access.
func shapeOf(d Direction, p *plan) shape {
	return shape{d, bits.Len64(uint64(p.run)), bits.Len64(uint64(p.bytes)), bits.Len64(uint64(p.hi - p.lo))}
}

// trial is what the members know of accesses of a shape.
type trial struct {
	shape
	phases bool // the way that is taken is through aggregators
	began  bool // the way that was taken when the trials began
	turn   int  // accesses since then
	until  int  // the turn from which on nothing is tried
	period int
	times  [2][]int64 // ns, in the way of the beginning and in the other one
}

// tried reports whether both ways have been tried in this period.
func (t *trial) tried() bool { return t.turn >= t.until }

// begin begins a period.
func (t *trial) begin(period int) {
	t.began, t.turn, t.until, t.period = t.phases, 0, 2*tries, period
	t.times = [2][]int64{t.times[0][:0], t.times[1][:0]}
}

// ended notes the time of an access.
func (t *trial) ended(ns int64) {
	if !t.tried() {
		way := t.turn / tries
		t.times[way] = append(t.times[way], ns)
		if way == 1 && len(t.times[1]) > 1 && t.times[1][1] > 2*t.time(0) {
			t.until = t.turn + 1
		}
	}
	t.turn++
	switch {
	case t.turn == tries:
		t.phases = !t.began
	case t.turn == t.until:
		t.phases = t.began
		if t.time(1) < t.time(0) {
			t.phases = !t.began
		}
	case t.turn == t.period:
		t.begin(min(2*t.period, trialPeriod))
	}
}

// time is the time of a way: the median of the accesses that count.
func (t *trial) time(way int) int64 {
	list := slices.Sorted(slices.Values(t.times[way][1:]))
	return list[len(list)/2]
}

// ns returns the times of the accesses by each member for itself, and through aggregators.
func (t *trial) ns() (alone, phases int64) {
	alone, phases = t.time(0), t.time(1)
	if t.began {
		return phases, alone
	}
	return alone, phases
}

// of returns the trial of a shape, whose accesses go through aggregators at first if phases is set.
func (x *trialsOf) of(s shape, phases bool) *trial {
	for _, t := range x.list {
		if t.shape == s {
			return t
		}
	}
	t := &trial{shape: s, phases: phases}
	t.begin(firstTrials)
	if len(x.list) < shapesMax {
		x.list = append(x.list, t)
	} else {
		x.list[x.next%shapesMax] = t
	}
	x.next++
	return t
}

// told ends the last access: told is what all members have told.
func (x *trialsOf) told(told []int64) {
	longest := x.took
	for at := planTook; at < len(told) && !planted.OwnTimes; at += planWords {
		longest = max(longest, told[at])
	}
	if x.last != nil {
		x.last.ended(longest)
	}
	x.last, x.took = nil, 0
}

// try chooses the way of an access for which the lengths of runs do not decide. Accesses that do not block take the
// way that is known to be faster, and their times do not count.
func (x *trialsOf) try(d Direction, p *plan, apart bool) {
	short := p.why == becauseShort
	if !short && p.why != becauseLong || p.limit >= longFar || p.run*tryFactor < p.limit || p.run >= p.limit*tryFactor {
		return
	}
	t := x.of(shapeOf(d, p), short)
	if !apart {
		x.last = t
	}
	p.phases = t.phases
	switch {
	case t.tried() && p.phases:
		p.why, p.trial = becauseTogether, t
	case t.tried():
		p.why, p.trial = becauseAlone, t
	case p.phases != short:
		p.why = becauseTried
	}
}
