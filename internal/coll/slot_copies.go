package coll

import "time"

const (
	// copiesMin is the length in bytes from which it depends on the machine whether a block takes less
	// time by two copies through a stage, or by one of the kernel.
	copiesMin = 32 << 10
	// trials is the number of collectives in which a way to copy is tried.
	trials = 4
	// trialPeriod is the number of collectives after which both ways are tried again.
	trialPeriod = 512
)

// copies chooses how the neighbourhood collectives of a communicator copy blocks of a middle length. Where
// cores share a cache, two copies through it take half of the time of one by the kernel; where they
// do not, twice. The same virtual machine may have such cores and others at different times. So the
// members try both ways again and again. Each tells all others how long its last collective has taken, and
// all see the longest of these times, so that all make the same choice.
type copies struct {
	direct bool      // blocks are copied once, by the kernel
	since  time.Time // the current collective of this member has begun to copy; zero if it does not
	took   uint64    // ns of the last one; 0 if it did not
	last   int       // the way of that collective: 0 by stages, 1 direct
	turn   int       // of collectives since the trials have begun
	least  [2]uint64 // the shortest time of each way, in ns; 0 if not known
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
	if took != 0 && c.turn > 0 && (c.least[c.last] == 0 || took < c.least[c.last]) {
		c.least[c.last] = took
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
		c.direct = c.least[1] != 0 && c.least[1] < c.least[0]
	case trialPeriod:
		*c = copies{took: c.took} // what the members tell next is about this period, and is ignored
	}
}
