package coll

import "time"

const (
	// copiesMin is the length in bytes from which it depends on the machine whether a block takes less
	// time by two copies through a stage, or by one of the kernel.
	copiesMin = 32 << 10
	// trials is the number of collectives in which a way to copy is tried.
	trials = 4
	// trialPeriod is the number of collectives after which the other way is tried again.
	trialPeriod = 512
)

// copies chooses how the neighbourhood collectives of a communicator copy blocks of a middle length. Where
// cores share a cache, two copies through it take half of the time of one by the kernel; where they
// do not, twice; and with more members than cores it depends on which of them share a core, which changes. So the
// members time all collectives, and try the other way again and again. Each tells all others how long its last
// collective has taken, and all see the longest of these times, so that all make the same choice.
//
// Rejected: to choose by the best collective of each way. Of a way that mostly takes three times as long as
// the other one, a single collective may take less.
type copies struct {
	direct  bool      // blocks are copied once, by the kernel
	since   time.Time // the current collective of this member has begun to copy; zero if it does not
	took    uint64    // ns of the last one; 0 if it did not
	last    int       // the way of that collective: 0 by stages, 1 direct
	turn    int       // of collectives since the last trials have begun
	average [2]uint64 // of the times of each way, in ns; 0 if not known
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
	if took != 0 {
		c.count(took)
	}
	if c.took = 0; !c.since.IsZero() {
		c.took, c.since = uint64(time.Since(c.since)), time.Time{}
	}
	if !used {
		return
	}
	c.last = c.way()
	now, other := c.average[c.last], c.average[1-c.last]
	switch c.turn++; {
	case c.turn < trials:
	case c.turn == trialPeriod, other == 0:
		c.turn, c.direct = 0, !c.direct
	case other+other/8 < now:
		c.direct = !c.direct
	}
}

func (c *copies) way() int {
	if c.direct {
		return 1
	}
	return 0
}

// count adds the time of the last collective to the average of its way, in which the last ones count most. A
// member may have come late: a time counts as at most twice the average.
func (c *copies) count(took uint64) {
	a := &c.average[c.last]
	if *a == 0 {
		*a = took
	}
	*a = (3**a + min(took, 2**a)) / 4
}
