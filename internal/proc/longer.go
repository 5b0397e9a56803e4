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

// socketPolls is how many polls of memory take as long as one of sockets.
const socketPolls = 16

// pollsOn reports whether a waiter whose loads are over makes LongerEvery more: see Core.PollsOn.
func (p *Proc) pollsOn(l *Spell) bool {
	if p.policy.Longer == 0 {
		return false
	}
	if !l.began.IsZero() {
		if !p.policy.Threads {
			p.yieldLock() // to goroutines of the process: they may have no other P
		}
		p.policy.Yield() // to threads of the process: they may have no other core
	}
	return p.core.PollsOn(l, &p.policy, time.Now()) || planted.CoreSpun
}
