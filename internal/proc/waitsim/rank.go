package waitsim

import (
	"time"

	"github.com/halo-mpi/halo/internal/proc"
)

// phase says what a rank does.
type phase uint8

const (
	computes phase = iota
	sends
	polls    // Loads of the policy
	pollsOn  // proc.LongerEvery polls, then a yield
	looks    // at the clock, after that yield
	yields   // and polls, Yields of the policy
	blocks   // is about to sleep
	sleeps   // until what it waits for happens
	resumes  // has been woken
	finished // has done all steps
)

// A rank computes, sends a message to each of its peers, and waits for one from each of them, again and again.
type rank struct {
	phase phase
	step  int
	sent  [2]time.Duration // when the messages of the last step, and of the one before, were sent
	count int              // of steps whose messages are sent
	core  proc.Core

	wait     Wait
	costs    Costs // of this wait
	best     best  // what it would cost at least
	spell    proc.Spell
	yields   int           // that are left
	happens  time.Duration // when what it waits for will happen: the last message is on its way
	happened bool          // in this wait
	at       time.Duration // when it happened
	wakes    time.Duration // when the rank, which has been woken, will run
	alarm    time.Duration // when the rank wakes up by itself
}

// choice is how a waiter waits that knows when what it waits for will happen.
type choice uint8

const (
	byPolicy choice = iota
	poll
	sleep
	wakeEarly
)

// waits reports whether the rank waits.
func (r *rank) waits() bool { return r.phase >= polls && r.phase <= resumes }

// asleep reports whether the rank sleeps, and somebody else has to wake it.
func (r *rank) asleep() bool { return r.phase == sleeps && r.alarm == never && r.wakes == never }

// compute lets a rank begin its next step.
func (s *sim) compute(i int) {
	r := &s.ranks[i]
	r.phase = computes
	s.threads[i].left = s.schedule.Work[i][r.step]
}

// decide lets a rank go on that has used the processor time of its phase.
func (s *sim) decide(i int) {
	r := &s.ranks[i]
	switch r.phase {
	case computes:
		s.send(i)
	case sends:
		s.beginWait(i)
	case blocks:
		if r.happened {
			s.goOn(i)
			return
		}
		r.phase, r.wait.Slept = sleeps, true
		r.costs.Sleeps++
		s.dequeue(i)
	case pollsOn:
		if r.happened {
			s.goOn(i)
			return
		}
		r.phase, s.threads[i].left = looks, s.m.Yield
		s.yield(i)
	case looks:
		on := s.polledOn(i)
		switch {
		case r.happened:
			s.goOn(i)
		case on:
			r.phase, s.threads[i].left = pollsOn, proc.LongerEvery*s.m.Poll
		default:
			s.yieldOrSleep(i)
		}
	default:
		s.decideWait(i)
	}
}

// decideWait is decide in the phases polls, yields and resumes.
func (s *sim) decideWait(i int) {
	r := &s.ranks[i]
	switch {
	case r.happened:
		s.goOn(i)
	case r.phase == polls && s.policy.Longer > 0 && s.polledOn(i):
		r.phase, s.threads[i].left = pollsOn, proc.LongerEvery*s.m.Poll
	case r.phase == polls:
		s.yieldOrSleep(i)
	case r.phase == resumes:
		s.waitBy(i, poll) // it has woken up by itself
	case r.yields > 1:
		r.yields--
		s.threads[i].left = s.m.Yield
		s.yield(i)
	default:
		s.block(i)
	}
}

// polledOn asks proc.Core whether a waiter polls on, and notes if it has lost its core.
func (s *sim) polledOn(i int) bool {
	r := &s.ranks[i]
	before := r.core
	on := r.core.PollsOn(&r.spell, s.policy, time.Unix(0, int64(s.now)))
	r.wait.Lost = r.wait.Lost || r.core != before
	return on
}

// yieldOrSleep ends the polls of a waiter.
func (s *sim) yieldOrSleep(i int) {
	r := &s.ranks[i]
	r.yields = s.policy.Yields
	if r.yields == 0 {
		s.block(i)
		return
	}
	r.phase, s.threads[i].left = yields, s.m.Yield
	s.yield(i)
}

func (s *sim) block(i int) { s.ranks[i].phase, s.threads[i].left = blocks, s.m.Block }

// send sends the messages of a step.
func (s *sim) send(i int) {
	r := &s.ranks[i]
	r.phase, r.wait, r.costs, r.best = sends, Wait{Rank: i, Began: s.now}, Costs{}, best{}
	r.sent[r.step%2], r.count = s.now, r.step+1
	left := s.m.Send
	for _, p := range s.schedule.Peers[i] {
		q := &s.ranks[p]
		if !q.waits() || q.step != r.step || q.happens < never || q.happened {
			continue
		}
		q.happens = s.arrives(p)
		if q.happens < never && q.asleep() {
			left += s.m.WakeCall
			s.pay(p, i, s.m.WakeCall)
		}
	}
	s.threads[i].left = left
}

// arrives returns when the last message of its step arrives at a rank, never if one has not been sent.
func (s *sim) arrives(i int) (at time.Duration) {
	r := &s.ranks[i]
	for _, p := range s.schedule.Peers[i] {
		q := &s.ranks[p]
		if q.count <= r.step {
			return never
		}
		at = max(at, q.sent[r.step%2]+s.m.Message)
	}
	return at
}

// beginWait lets a rank wait, unless it has all messages.
func (s *sim) beginWait(i int) {
	r := &s.ranks[i]
	r.happened, r.spell = false, proc.Spell{}
	at := s.arrives(i)
	if at <= s.now {
		r.at = s.now
		s.goOn(i)
		return
	}
	if at < never {
		r.happens = at
	}
	if s.judged {
		r.best = s.judge(i)
	}
	switch {
	case s.ahead:
		s.waitBy(i, sleep)
	case s.clever:
		s.waitBy(i, s.choose(i))
	default:
		s.waitBy(i, byPolicy)
	}
}

// waitBy begins a wait with a choice.
func (s *sim) waitBy(i int, how choice) {
	r := &s.ranks[i]
	switch how {
	case poll:
		r.phase, s.threads[i].left = polls, never
	case sleep, wakeEarly:
		s.block(i)
	default:
		r.phase, s.threads[i].left = polls, never
		if s.policy.Loads == 0 {
			s.yieldOrSleep(i)
		} else if s.policy.Loads < forever {
			s.threads[i].left = time.Duration(s.policy.Loads) * s.m.Poll
		}
	}
}

// timers lets happen what time brings to a rank.
func (s *sim) timers(i int) {
	r, th := &s.ranks[i], &s.threads[i]
	if r.happens <= s.now {
		r.happens, r.happened, r.at = never, true, s.now
		switch {
		case r.asleep():
			s.wake(i)
		case r.phase == polls || r.phase == pollsOn || r.phase == yields:
			th.left = min(th.left, s.m.Poll)
		}
	}
	if r.alarm <= s.now && r.phase == sleeps {
		r.alarm = never
		s.wake(i)
	}
	if r.wakes <= s.now {
		r.wakes = never
		s.resume(i)
	}
}

// wake wakes a rank, which takes a while.
func (s *sim) wake(i int) {
	after := s.m.WakeBusy
	if s.cores[s.threads[i].core].running < 0 {
		after = s.m.WakeIdle
	}
	s.ranks[i].wakes = s.now + after
}

// resume makes a rank runnable that was asleep.
func (s *sim) resume(i int) {
	r, th := &s.ranks[i], &s.threads[i]
	r.phase, th.left = resumes, s.m.Resume
	s.enqueue(i)
}

// goOn ends the wait of a rank.
func (s *sim) goOn(i int) {
	r := &s.ranks[i]
	s.result.Steps++
	r.costs.Late += s.now - r.at
	s.record(r)
	r.happens, r.alarm, r.happened = never, never, false
	r.step++
	if r.step < len(s.schedule.Work[i]) {
		s.compute(i)
		return
	}
	r.phase = finished
	s.threads[i].left = never
	s.dequeue(i)
	s.left--
}

// record counts a wait that is over.
func (s *sim) record(r *rank) {
	x := &s.result
	x.Comm += s.now - r.wait.Began
	x.add(&r.costs)
	x.BestCost += r.best.cost
	x.BestNominal += r.best.nominal
	if r.best.nominal > 0 {
		r.wait.Ratio = float64(r.costs.Nominal()) / float64(r.best.nominal)
	}
	r.wait.Ended = s.now
	if s.seen != nil {
		s.seen(&r.wait)
	}
}
