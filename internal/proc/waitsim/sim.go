package waitsim

import (
	"time"

	"github.com/halo-mpi/halo/internal/proc"
)

// Schedule is what ranks and strangers do, whatever it takes.
type Schedule struct {
	Work      [][]time.Duration // processor time of the computation of each rank in each step
	Peers     [][]int           // from whom each rank awaits a message in each step, and to whom it sends one
	Strangers []Stranger
}

// Stranger is a thread that computes on a core all the time from From until To.
type Stranger struct {
	Core     int
	From, To time.Duration
}

// Result is what the waits of all ranks cost.
type Result struct {
	Costs
	Steps int           // of all ranks
	Comm  time.Duration // from the end of a computation until the next one begins
	Took  time.Duration // until the last rank has ended

	// BestCost and BestNominal are the least that the same waits would have cost, each by itself, had the waiter known when
	// what it waits for will happen. Only Judge has them.
	BestCost, BestNominal time.Duration
}

// Costs are those of waits.
type Costs struct {
	// Late is the time from when what a rank waits for has happened until the rank goes on.
	Late time.Duration
	// Shared is the processor time that waits took before that on cores that others wanted at the time, and Idle the same on
	// cores that nobody else wanted: to poll, to yield, to fall asleep, and to wake a sleeper.
	Shared, Idle time.Duration
	Sleeps       int
}

const (
	// IdleShare is how many microseconds of processor time that nobody else wants cost as much as one that somebody wants, or
	// as one of delay.
	IdleShare = 20
	// NominalWake is how late a rank goes on that sleeps, in nominal costs.
	NominalWake = 50 * time.Microsecond
)

// processor is the cost of processor time.
func (c *Costs) processor() time.Duration { return c.Shared + c.Idle/IdleShare }

// Cost is processor time and delay: what waits took before what they wait for had happened, of which an IdleShare counts where
// nobody else wanted the core, and how late the ranks went on then.
func (c *Costs) Cost() time.Duration { return c.Late + c.processor() }

// Nominal is Cost, if each rank that sleeps went on late by NominalWake, and all others at once: the cost of the problem of ski
// rental, in which to buy has one price. A scheduler makes sleepers late by 20 us or by the time slice of a stranger.
func (c *Costs) Nominal() time.Duration {
	return c.processor() + time.Duration(c.Sleeps)*NominalWake
}

func (c *Costs) add(o *Costs) {
	c.Late += o.Late
	c.Shared += o.Shared
	c.Idle += o.Idle
	c.Sleeps += o.Sleeps
}

// Wait is one wait of a rank.
type Wait struct {
	Rank         int
	Began, Ended time.Duration
	Polled       time.Duration // processor time until what it waits for happened, or the rank fell asleep
	Slept        bool
	Lost         bool    // the waiter found out that it had lost its core: see proc.Core
	Ratio        float64 // of the nominal cost to the least: Judge has it
}

// sim is one simulation.
type sim struct {
	scheduler
	policy   *proc.Policy
	schedule *Schedule
	ranks    [maxRanks]rank
	seen     func(*Wait)
	left     int  // ranks that have not ended
	clever   bool // waiters know when what they wait for will happen
	early    bool // and may wake up in time
	judged   bool // what each wait would have cost at least enters the result
	ahead    bool // this is a fork that looks ahead: waiters that begin to wait sleep at once
	result   Result
}

// Run simulates a schedule with a policy. It calls seen, unless that is nil, at the end of each wait.
func Run(m *Machine, y *proc.Policy, s *Schedule, seen func(*Wait)) *Result {
	x := newSim(m, s)
	x.policy, x.seen = y, seen
	return x.run()
}

func newSim(m *Machine, s *Schedule) *sim {
	x := &sim{schedule: s, left: len(s.Work)}
	x.init(m)
	for i := range s.Work {
		r := &x.ranks[i]
		r.happens, r.wakes, r.alarm = never, never, never
		x.threads[i].core = i
		x.compute(i)
		x.enqueue(i)
	}
	for i := range s.Strangers {
		x.threads[maxRanks+i].core = s.Strangers[i].Core
	}
	return x
}

func (s *sim) run() *Result {
	for s.left > 0 {
		s.step()
	}
	s.result.Took = s.now
	return &s.result
}

// step lets time pass until something happens, and lets it happen.
func (s *sim) step() {
	before, at := s.now, s.upcoming()
	if at >= never {
		panic("waitsim: nothing will happen any more")
	}
	s.charge(at - before)
	s.advance(at)
	if at%s.m.Tick == 0 {
		s.tick()
	}
	s.pass(before)
	for i := range s.schedule.Work {
		s.timers(i)
	}
	for c := range s.cores {
		if t := s.cores[c].running; t >= 0 && t < maxRanks && s.threads[t].left <= 0 {
			s.decide(t)
		}
	}
}

// upcoming returns when something happens next.
func (s *sim) upcoming() time.Duration {
	at := s.next()
	for i := range s.schedule.Work {
		r := &s.ranks[i]
		at = min(at, r.happens, r.wakes)
		if r.phase == sleeps {
			at = min(at, max(r.alarm, s.now))
		}
	}
	for i := range s.schedule.Strangers {
		if x := &s.schedule.Strangers[i]; s.now < x.From {
			at = min(at, x.From)
		} else if s.now < x.To {
			at = min(at, x.To)
		}
	}
	return at
}

// pass lets strangers come and go. It was before when they did so last.
func (s *sim) pass(before time.Duration) {
	for i := range s.schedule.Strangers {
		x := &s.schedule.Strangers[i]
		switch {
		case x.From == s.now && (before < s.now || s.now == 0):
			s.enqueue(maxRanks + i)
		case x.To == s.now && before < s.now:
			s.dequeue(maxRanks + i)
		}
	}
}

// charge counts the processor time that waits take in d from now.
func (s *sim) charge(d time.Duration) {
	for c := range s.cores {
		t := s.cores[c].running
		if t < 0 || t >= maxRanks {
			continue
		}
		if r := &s.ranks[t]; r.waits() && !r.happened {
			s.pay(t, t, d)
			if r.phase < blocks {
				r.wait.Polled += d
			}
		}
	}
}

// pay counts d of processor time, which rank by takes on its core, as the cost of the wait of rank i.
func (s *sim) pay(i, by int, d time.Duration) {
	c := &s.ranks[i].costs
	if s.wanted(by) {
		c.Shared += d
	} else {
		c.Idle += d
	}
}
