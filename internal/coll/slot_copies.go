package coll

import (
	"slices"
	"time"
)

const (
	// copiesMin is the length in bytes from which it depends on the machine whether a block takes less
	// time by two copies through a stage, or by one of the kernel.
	copiesMin = 32 << 10
	// trials is the number of collectives in which a way to copy is tried.
	trials = 9
	// firstPeriod is the number of collectives after which both ways are tried again, and each period is twice
	// as long as the one before, up to trialPeriod: in the first ones the members may be unevenly on the
	// cores, and touch memory for the first time.
	firstPeriod = 64
	trialPeriod = 512
)

// copies chooses how the neighbourhood collectives of a communicator copy blocks of a middle length. Where
// cores share a cache, two copies through it take half of the time of one by the kernel; where they
// do not, twice. The same virtual machine may have such cores and others at different times. So the
// members try both ways again and again. Each tells all others how long its last collective has taken, and
// all see the longest of these times, so that all make the same choice: the way with the lower median. With
// more members than cores a few collectives take a time slice longer, or less than any other, by how the
// members happen to get their cores.
type copies struct {
	direct bool      // blocks are copied once, by the kernel
	since  time.Time // the current collective of this member has begun to copy; zero if it does not
	took   uint64    // ns of the last one; 0 if it did not
	last   int       // the way of that collective: 0 by stages, 1 direct
	period int       // number of collectives from trials to trials; 0 in the first period
	turn   int       // of collectives since the trials have begun
	tried  [2]int    // how many times of each way are known
	times  [2][trials]uint64
}

// begin begins to copy, and reports whether blocks are copied directly.
func (c *copies) begin() bool {
	if c.since.IsZero() {
		c.since = time.Now()
	}
	return c.direct
}

// ended ends a collective. Some member has used it if used is set; took is the longest time of the
// last collective that did, if the members have told it in this one.
func (c *copies) ended(used bool, took uint64) {
	if took != 0 && c.turn > 0 && c.tried[c.last] < trials {
		c.times[c.last][c.tried[c.last]] = took
		c.tried[c.last]++
	}
	if c.took = 0; !c.since.IsZero() {
		c.took, c.since = uint64(time.Since(c.since)), time.Time{}
	}
	if !used {
		return
	}
	c.last = 0
	if c.direct {
		c.last = 1
	}
	switch c.turn++; c.turn {
	case trials:
		c.direct = true
	case 2 * trials:
		c.direct = c.tried[0] > 0 && c.tried[1] > 0 && c.median(1) < c.median(0)
	case max(c.period, firstPeriod):
		// What the members tell next is about this period, and is ignored.
		*c = copies{took: c.took, period: min(2*c.turn, trialPeriod)}
	}
}

// median is the median of the known times of a way, of which there is one.
func (c *copies) median(way int) uint64 {
	known := c.times[way][:c.tried[way]]
	slices.Sort(known)
	return known[len(known)/2]
}
