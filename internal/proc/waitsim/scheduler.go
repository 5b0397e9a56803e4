package waitsim

import "time"

// Bounds of a simulation, which is a value without pointers but for what never changes, so that a copy is a fork.
const (
	maxRanks   = 4
	maxThreads = 2 * maxRanks // the strangers come after the ranks
)

// A thread is what the scheduler knows of a rank or a stranger.
type thread struct {
	core               int
	on                 place
	vruntime, deadline time.Duration
	lag                time.Duration // while it is away: how far it was behind the average of its core
	left               time.Duration // processor time until the thread has something to decide
}

// place says where a thread is.
type place uint8

const (
	away    place = iota
	queued        // it runs, or waits for its core
	delayed       // asleep, and ahead of the others: it stays in the queue until they have caught up
)

// A core runs one of the threads that are bound to it.
type core struct {
	running   int           // -1: none
	protected time.Duration // the running thread is not replaced before it has this vruntime, while it is eligible
}

// scheduler is a model of EEVDF as in Linux 6.18, for threads of one weight. Each thread has a vruntime: processor time used,
// in relation to others. A thread is eligible if it is not ahead of the average of its core. Of these the one with the earliest
// deadline runs, one slice after its vruntime when that began. At a tick a thread that has used its slice gets a new deadline,
// and the core picks again. A thread that wakes up keeps its distance to the average, and replaces the running one at once if
// that is not eligible or has used its slice. sched_yield forfeits the rest of the slice.
//
// Left out: weights, groups, moves between cores, and the time that the kernel itself takes.
type scheduler struct {
	m       *Machine
	now     time.Duration
	threads [maxThreads]thread
	cores   [maxRanks]core
}

// init makes all cores idle.
func (s *scheduler) init(m *Machine) {
	s.m = m
	for c := range s.cores {
		s.cores[c].running = -1
	}
	for t := range s.threads {
		s.threads[t].left = never
	}
}

// average returns the sum of the vruntimes of a core's threads, and their number.
func (s *scheduler) average(c int) (sum, n time.Duration) {
	for t := range s.threads {
		if th := &s.threads[t]; th.core == c && th.on != away {
			sum += th.vruntime
			n++
		}
	}
	return sum, n
}

// eligible reports whether a thread is not ahead of the average.
func (s *scheduler) eligible(t int) bool {
	sum, n := s.average(s.threads[t].core)
	return s.threads[t].vruntime*n <= sum
}

// wanted reports whether a thread waits for a core while t has it.
func (s *scheduler) wanted(t int) bool {
	for o := range s.threads {
		if th := &s.threads[o]; o != t && th.on == queued && th.core == s.threads[t].core {
			return true
		}
	}
	return false
}

// pick returns the thread that a core is to run, -1 if there is none.
func (s *scheduler) pick(c int) int {
	if t := s.cores[c].running; t >= 0 && s.threads[t].on == queued && s.threads[t].vruntime < s.cores[c].protected && s.eligible(t) {
		return t
	}
	for {
		best := -1
		sum, n := s.average(c)
		for t := range s.threads {
			th := &s.threads[t]
			if th.core != c || th.on == away || th.vruntime*n > sum {
				continue
			}
			if best < 0 || th.deadline < s.threads[best].deadline {
				best = t
			}
		}
		if best < 0 || s.threads[best].on == queued {
			return best
		}
		s.threads[best].on = away // the others have caught up with a thread that sleeps
		s.threads[best].lag = 0
	}
}

// reschedule lets a core run the thread that it picks.
func (s *scheduler) reschedule(c int) {
	t, before := s.pick(c), s.cores[c].running
	if t == before {
		return
	}
	s.cores[c].running = t
	if t >= 0 {
		th := &s.threads[t]
		s.cores[c].protected = th.deadline
		if before >= 0 && th.left < never/2 {
			th.left += s.m.Switch
		}
	}
}

// enqueue makes a thread runnable, and reschedules its core if the thread is to run at once.
func (s *scheduler) enqueue(t int) {
	th := &s.threads[t]
	c := th.core
	if th.on == away {
		s.place(th)
	}
	th.on = queued
	if r := s.cores[c].running; r < 0 {
		s.reschedule(c)
	} else {
		s.renew(&s.threads[r])
		if s.pick(c) == t {
			s.reschedule(c)
		}
	}
}

// place gives a thread that comes to its core its vruntime.
func (s *scheduler) place(th *thread) {
	if sum, n := s.average(th.core); n > 0 {
		limit := max(2*s.m.Slice, s.m.Tick)
		lag := min(max(th.lag, -limit), limit)
		th.vruntime = sum/n - lag*(n+1)/n
	}
	th.deadline = th.vruntime + s.m.Slice
}

// dequeue takes a thread from its core.
func (s *scheduler) dequeue(t int) {
	th := &s.threads[t]
	sum, n := s.average(th.core)
	th.lag = sum/n - th.vruntime
	th.on = away
	if th.lag < 0 {
		th.on = delayed
	}
	s.reschedule(th.core)
}

// yield gives the core of a running thread to another one, if one wants it that is eligible then.
func (s *scheduler) yield(t int) {
	th := &s.threads[t]
	if !s.wanted(t) {
		return
	}
	s.renew(th)
	if s.eligible(t) {
		th.vruntime = th.deadline
		th.deadline += s.m.Slice
	}
	s.reschedule(th.core)
}

// renew gives a thread that has used its slice a new deadline, and reports whether it has used it.
func (s *scheduler) renew(th *thread) bool {
	over := th.vruntime - th.deadline
	if over < 0 {
		return false
	}
	th.deadline += (over/s.m.Slice + 1) * s.m.Slice
	return true
}

// tick lets all cores look whether a slice is used up.
func (s *scheduler) tick() {
	for c := range s.cores {
		t := s.cores[c].running
		if t < 0 || !s.renew(&s.threads[t]) {
			continue
		}
		s.reschedule(c)
		if s.cores[c].running == t {
			s.cores[c].protected = s.threads[t].deadline
		}
	}
}

// next returns when the scheduler has something to do: a thread has something to decide, or a tick matters.
func (s *scheduler) next() time.Duration {
	at := never
	for c := range s.cores {
		t := s.cores[c].running
		if t < 0 {
			continue
		}
		at = min(at, s.now+s.threads[t].left)
		if _, n := s.average(c); n > 1 {
			at = min(at, (s.now/s.m.Tick+1)*s.m.Tick)
		}
	}
	return at
}

// advance lets time pass until at.
func (s *scheduler) advance(at time.Duration) {
	d := at - s.now
	for c := range s.cores {
		if t := s.cores[c].running; t >= 0 {
			s.threads[t].vruntime += d
			if s.threads[t].left < never/2 {
				s.threads[t].left -= d
			}
		}
	}
	s.now = at
}
