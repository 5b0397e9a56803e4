package proc

import (
	"time"

	"github.com/halo-mpi/halo/internal/planted"
)

// lasts calls yield, and reports whether the core was lost in it: there should be no other yield, and for some time no
// waiter polls for long.
func (p *Proc) lasts(yield func()) bool {
	began := time.Now()
	yield()
	now := time.Now()
	if now.Sub(began) <= p.policy.Slice || planted.CoreGivenAway {
		return false
	}
	p.lost = now
	return true
}

// lostLately reports whether a waiter has lost its core a short time ago.
func (p *Proc) lostLately(now time.Time) bool { return now.Sub(p.lost) <= lostFor }

const (
	// longerEvery is how many polls there are between two looks at the clock of a waiter that polls on: a few microseconds.
	longerEvery = 256
	// socketPolls is how many polls of memory take as long as one of sockets.
	socketPolls = 16
	// lostFor is for how long no waiter polls on, or yields to threads of peers, after one has lost its core.
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
	return now.Sub(l.began) < p.policy.Longer && !p.lostLately(now)
}
