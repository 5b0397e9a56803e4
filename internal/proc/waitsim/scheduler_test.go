package waitsim

import (
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/proc"
)

// pair returns a scheduler with two threads on core 0 that compute for ever. The first one runs.
func pair() *scheduler {
	s := &scheduler{}
	s.init(Measured())
	s.enqueue(0)
	s.enqueue(1)
	return s
}

// until lets time pass until at, with its ticks.
func (s *scheduler) until(at time.Duration) {
	for s.now < at {
		s.advance(min(at, s.next()))
		if s.now%s.m.Tick == 0 {
			s.tick()
		}
	}
}

// Two threads that compute have the core in turn, from tick to tick.
func TestThreadsShareACore(t *testing.T) {
	s := pair()
	for k := range 10 {
		s.until(time.Duration(k)*s.m.Tick + s.m.Tick/2)
		if got := s.cores[0].running; got != k%2 {
			t.Errorf("at %v thread %d has the core, not %d", s.now, got, k%2)
		}
	}
}

// A thread that wakes up runs at once if it is behind the one that has the core, and at a tick if it is ahead.
func TestThreadsThatWakeUpRunIfTheyAreBehind(t *testing.T) {
	for thread, behind := range []bool{false, true} {
		s := pair()
		at := s.m.Tick / 2 // thread 0 has run for 2 ms, and thread 1 not at all
		if behind {
			at += s.m.Tick // thread 0 has run for 4 ms, and thread 1 for 2
		}
		s.until(at)
		s.dequeue(thread)
		s.until(at + 100*time.Microsecond)
		s.enqueue(thread)
		if got := s.cores[0].running == thread; got != behind {
			t.Errorf("behind: %v: the thread runs when it wakes up: %v", behind, got)
		}
		s.until(at + 3*s.m.Tick)
		if s.threads[0].on != queued || s.threads[1].on != queued {
			t.Errorf("behind: %v: a thread is lost", behind)
		}
	}
}

// A thread that sleeps while it is ahead stays in the queue until the other one has caught up. Then it is ahead no more.
func TestSleepersThatAreAheadAreCaughtUpWith(t *testing.T) {
	s := pair()
	s.until(s.m.Tick / 2)
	s.dequeue(0)
	if s.threads[0].on != delayed {
		t.Error("a thread that is ahead leaves the queue at once")
	}
	s.until(3 * s.m.Tick)
	if th := &s.threads[0]; th.on != away || th.lag != 0 {
		t.Errorf("later it is at place %d with a lag of %v", th.on, th.lag)
	}
	s.until(3*s.m.Tick + s.m.Tick/2)
	before := s.threads[1].vruntime
	s.enqueue(0)
	if got := s.threads[0].vruntime; got != before {
		t.Errorf("then it has the vruntime %v, not %v", got, before)
	}
}

// A yield forfeits the rest of the slice: a thread that is ahead loses the core until the next tick, and one that is far behind
// keeps it.
func TestYieldsForfeitTheSlice(t *testing.T) {
	s := pair()
	s.until(time.Microsecond)
	s.yield(0)
	if s.cores[0].running != 1 {
		t.Error("a thread that yields keeps the core")
	}
	s.until(s.m.Tick + time.Microsecond)
	if s.cores[0].running != 0 {
		t.Error("a thread that has yielded does not get the core back at the tick")
	}
	yields := 0
	for ; s.cores[0].running == 0 && yields < 10; yields++ {
		s.yield(0)
	}
	if yields != 3 { // it is 4 ms behind, and forfeits 1.4 each time
		t.Errorf("a thread that is behind loses the core in yield %d", yields)
	}
}

// The times of two ranks, by hand: rank 0 computes for 300 us and rank 1 for 20, on cores of their own.
func TestTimesOfTheModel(t *testing.T) {
	m := Measured()
	s := &Schedule{Work: [][]time.Duration{{300 * time.Microsecond}, {20 * time.Microsecond}}, Peers: [][]int{{1}, {0}}}
	sent := 300*time.Microsecond + m.Message
	waits := sent - 20*time.Microsecond - m.Send // from when rank 1 begins to wait until the message is there
	for _, x := range []struct {
		policy proc.Policy
		want   Costs
		ended  time.Duration
	}{
		{Halo().Policy, Costs{Late: m.Poll, Idle: waits}, sent + m.Poll},
		{proc.Policy{Loads: forever}, Costs{Late: m.Poll, Idle: waits}, sent + m.Poll},
		{proc.Policy{}, Costs{Late: m.WakeIdle + m.Resume, Idle: m.Block + m.WakeCall, Sleeps: 1}, sent + m.WakeIdle + m.Resume},
		{proc.Policy{Loads: 1000}, Costs{Late: m.WakeIdle + m.Resume, Idle: 1000*m.Poll + m.Block + m.WakeCall, Sleeps: 1}, sent + m.WakeIdle + m.Resume},
	} {
		r := Run(m, &x.policy, s, func(w *Wait) {
			want := []time.Duration{300*time.Microsecond + m.Send + m.WakeCall*time.Duration(x.want.Sleeps), x.ended}
			if w.Ended != want[w.Rank] {
				t.Errorf("%+v: the wait of rank %d ends at %v, not %v", x.policy, w.Rank, w.Ended, want[w.Rank])
			}
		})
		if r.Costs != x.want {
			t.Errorf("%+v costs %+v, not %+v", x.policy, r.Costs, x.want)
		}
	}
	best := Judge(m, &proc.Policy{Loads: forever}, s, nil)
	if want := min(waits/IdleShare, (m.Block+m.WakeCall)/IdleShare+NominalWake); best.BestNominal != want {
		t.Errorf("the wait would have cost %v at least, not %v", best.BestNominal, want)
	}
}
