package slot

import (
	"slices"
	"time"
)

const (
	// CopiesMin is the length in bytes from which it depends on the machine whether a block takes less
	// time by two copies through a stage, or by one of the kernel.
	CopiesMin = 32 << 10
	// Trials is the number of collectives in which a way to copy is tried.
	Trials = 9
	// firstPeriod is the number of collectives after which both ways are tried again, and each period is twice
	// as long as the one before, up to trialPeriod: in the first ones the members may be unevenly on the
	// cores, and touch memory for the first time.
	firstPeriod = 64
	trialPeriod = 512
)

// copies chooses how a member gives blocks of a middle length to its neighbours. Where
// cores share a cache, two copies through it take half of the time of one by the kernel; where they
// do not, twice. The same virtual machine may have such cores and others at different times. So the
// members try both ways again and again, and each chooses the one with the lower median of the times of its
// collectives. These are as long as those of its neighbours, so that mostly all choose the same; they need not. With
// more members than cores a few collectives take a time slice longer, or less than any other, by how the
// members happen to get their cores.
type copies struct {
	direct bool      // blocks are copied once, by the kernel
	since  time.Time // the current collective of this member has begun to copy; zero if it does not
	period int       // number of collectives from trials to trials; 0 in the first period
	turn   int       // of collectives since the trials have begun
	times  [2][Trials]uint64
}

// begin begins to copy, and reports whether blocks are copied directly.
func (c *copies) begin() bool {
	if c.since.IsZero() {
		c.since = time.Now()
	}
	return c.direct
}

// ended ends a collective.
func (c *copies) ended() {
	if c.since.IsZero() {
		return
	}
	c.took(uint64(time.Since(c.since)))
	c.since = time.Time{}
}

// took notes the time of a collective in ns.
func (c *copies) took(ns uint64) {
	if way := c.turn / Trials; way < len(c.times) {
		c.times[way][c.turn%Trials] = ns
	}
	c.turn++
	switch c.turn {
	case Trials:
		c.direct = true
	case 2 * Trials:
		c.direct = c.median(1) < c.median(0)
	case max(c.period, firstPeriod):
		*c = copies{period: min(2*c.turn, trialPeriod)}
	}
}

// median is the median of the times of a way, but for the first one, in which a part of the members may still copy in
// the other way.
func (c *copies) median(way int) uint64 {
	known := c.times[way][1:]
	slices.Sort(known)
	return known[len(known)/2]
}
