package proc

import "time"

// Core is what the waiters of a process know about its core: when one of them has lost it last, to somebody who computes
// there. Its decisions depend on nothing but the times that they are given: package waitsim makes them in virtual time.
type Core struct{ lost time.Time }

// Lose records that a waiter has lost the core.
func (c *Core) Lose(now time.Time) { c.lost = now }

// Lost reports whether a waiter has lost the core within the last LostFor.
func (c *Core) Lost(now time.Time) bool { return now.Sub(c.lost) <= LostFor }

// Spell is the part of a wait after Loads, in which the waiter polls on: since when, and when it last looked at the clock.
// The zero Spell has not begun.
type Spell struct{ began, looked time.Time }

// PollsOn reports, at the time now, whether a waiter makes LongerEvery polls more before it asks again. It does while the
// process has the core for itself, for y.Longer: whom the waiter waits for may then end the wait without waking anybody. It does
// not if a waiter has lost the core within the last LostFor: the time slice is better spent when what it waits for has happened.
func (c *Core) PollsOn(l *Spell, y *Policy, now time.Time) bool {
	switch {
	case l.began.IsZero():
		l.began = now
	case now.Sub(l.looked) > y.Slice:
		c.Lose(now)
	}
	l.looked = now
	return now.Sub(l.began) < y.Longer && !c.Lost(now)
}

const (
	// LongerEvery is how many polls there are between two looks at the clock of a waiter that polls on: a few microseconds.
	LongerEvery = 256
	// LostFor is for how long no waiter polls on, or yields to threads of peers, after one has lost its core.
	LostFor = 100 * time.Millisecond
	// LostSlice is Slice of policies: less than the time slices of kernels, and more than threads take that communicate.
	LostSlice = 300 * time.Microsecond
)

// OwnCore returns the policy of processes that have a core each, without Yield: a waiter polls for 0.05 ms, and then on for a
// millisecond as long as it has its core for itself.
func OwnCore() Policy {
	return Policy{Loads: 4000, WordLoads: 4000, Longer: time.Millisecond, Slice: LostSlice, Often: true}
}
