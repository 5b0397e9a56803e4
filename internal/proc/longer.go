package proc

import (
	"time"

	"github.com/halo-mpi/halo/internal/planted"
)

// lasts calls yield, and reports whether the core was lost in it: there should be no other.
func (p *Proc) lasts(yield func()) bool {
	began := time.Now()
	yield()
	return time.Since(began) > p.policy.Slice && !planted.CoreGivenAway
}

const (
	// longerEvery is how many polls there are between two looks at the clock of a waiter that polls on: a few microseconds.
	longerEvery = 256
	// lostFor is for how long no waiter polls on after one has lost its core that way.
	lostFor = 100 * time.Millisecond
)

// longer is since when a waiter polls on, and when it last looked at the clock.
type longer struct{ began, looked time.Time }

// pollsOn reports whether a waiter whose loads are over makes longerEvery more. It does while it has the core for itself:
// whom it waits for may then end the wait without waking anybody. It does not if it has lost the core: the time slice is
// better spent when what it waits for has happened.
func (p *Proc) pollsOn(l *longer) bool {
	if p.policy.Longer == 0 {
		return false
	}
	if !l.began.IsZero() {
		if !p.policy.Threads {
			p.yieldLock() // to goroutines of the process: they may have no other P
		}
		p.policy.Yield() // to threads of the process: they may have no other core
	}
	now := time.Now()
	switch {
	case planted.CoreSpun:
		return true
	case l.began.IsZero():
		l.began = now
	case now.Sub(l.looked) > p.policy.Slice:
		p.lost = now
	}
	l.looked = now
	return now.Sub(l.began) < p.policy.Longer && now.Sub(p.lost) > lostFor
}
