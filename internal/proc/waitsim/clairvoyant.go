package waitsim

import (
	"time"

	"github.com/halo-mpi/halo/internal/proc"
)

// A clairvoyant waiter knows when what it waits for will happen. It polls, or it sleeps at once, whichever costs less in this
// wait. A sleeper is woken as any other.
//
// It looks ahead in forks of the simulation, in which those that begin to wait meanwhile sleep. That changes nothing for the
// rank that looks, since each rank has a core of its own. What a wait does to later ones, such as using up a time slice, does
// not enter the choice.

// Judge is Run, and says what the same waits would have cost if the waiter had been clairvoyant.
func Judge(m *Machine, y *proc.Policy, s *Schedule, seen func(*Wait)) *Result {
	x := newSim(m, s)
	x.policy, x.judged, x.seen = y, true, seen
	return x.run()
}

// Clairvoyant simulates a schedule with clairvoyant waiters. With early they may also sleep and wake up by themselves, in time
// to run when it happens if the core is idle then.
func Clairvoyant(m *Machine, s *Schedule, early bool) *Result {
	x := newSim(m, s)
	x.policy, x.clever, x.early = &proc.Policy{}, true, early
	return x.run()
}

// best is the least that a wait can cost.
type best struct{ cost, nominal time.Duration }

// judge returns what the wait of a rank, which is about to begin, will cost at least.
func (s *sim) judge(i int) best {
	p, _ := s.fork(i, poll)
	q, _ := s.fork(i, sleep)
	return best{min(p.Cost(), q.Cost()), min(p.Nominal(), q.Nominal())}
}

// choose returns the choice that costs least for a rank that is about to wait.
func (s *sim) choose(i int) choice {
	costs, at := s.fork(i, poll)
	how, least := poll, costs.Cost()
	if costs, _ := s.fork(i, sleep); costs.Cost() < least {
		how, least = sleep, costs.Cost()
	}
	alarm := at - s.m.WakeIdle - s.m.Resume
	if !s.early || alarm <= s.now+s.m.Block {
		return how
	}
	s.ranks[i].alarm = alarm
	if costs, _ := s.fork(i, wakeEarly); costs.Cost() < least {
		return wakeEarly
	}
	s.ranks[i].alarm = never
	return how
}

// fork returns what a wait will cost with a choice, and when what the rank waits for will happen.
func (s *sim) fork(i int, how choice) (costs Costs, at time.Duration) {
	f := *s
	f.ahead, f.seen, f.judged, f.clever = true, nil, false, false
	r := &f.ranks[i]
	f.waitBy(i, how)
	for step := r.step; r.step == step; {
		f.step()
	}
	return r.costs, r.at
}
