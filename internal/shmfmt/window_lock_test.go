package shmfmt

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/sys"
)

// actor is a claimant of the simulation, which does one step at a time.
type actor struct {
	step      int
	exclusive bool
	ticket    uint64
	first     uint64 // its range
	end       uint64
	seen      uint64 // of Moves
	deaths    int    // known at the last look: what tells of them cannot come between a look and sleep
	found     LockState
	flagged   LockState
	asleep    bool
	rung      bool
	dead      bool
	rest      int // steps to go while it has the lock
}

const (
	actIdle = iota
	actAnnounced
	actDrawn
	actPublished
	actLook
	actLooked
	actSleeping
	actHeld
	actRetracted
	actLeft
)

// simulation interleaves claimants step by step, and checks the properties of the lock after each step.
// A seed replays it.
type simulation struct {
	t      *testing.T
	seed   uint64
	g      *rand.Rand
	l      *Lock
	actors []actor
	dead   Dead
	killed int   // claimants that died as the holder
	told   int   // how many of these deaths were reported
	ranges bool  // of a lock of ranges
	order  []int // claimants whose ticket is drawn and who have not got the lock
	waits  int
	deaths int
}

func (s *simulation) fail(format string, args ...any) {
	s.t.Fatalf("seed %d: %s", s.seed, fmt.Sprintf(format, args...))
}

func (s *simulation) ring(i int) { s.actors[i].rung = true }

// excludes reports whether a and b cannot both have the lock.
func (a *actor) excludes(b *actor) bool {
	return (a.exclusive || b.exclusive) && a.first < b.end && b.first < a.end
}

// forget removes i from the claimants that wait in order.
func (s *simulation) forget(i int) {
	for k, o := range s.order {
		if o == i {
			s.order = append(s.order[:k:k], s.order[k+1:]...)
			return
		}
	}
}

// enter checks that i may hold the lock: no other holder conflicts, and no older claimant that conflicts
// still waits.
func (s *simulation) enter(i int) {
	a := &s.actors[i]
	for o := range s.actors {
		b := &s.actors[o]
		if o != i && !b.dead && b.step == actHeld && a.excludes(b) {
			s.fail("claimants %d and %d both have the lock", i, o)
		}
	}
	for _, o := range s.order {
		if o == i {
			break
		}
		if b := &s.actors[o]; !b.dead && a.excludes(b) {
			s.fail("claimant %d overtakes %d", i, o)
		}
	}
	s.forget(i)
}

// act runs the next step of claimant i.
func (s *simulation) act(i int) {
	a := &s.actors[i]
	switch a.step {
	case actIdle:
		*a = actor{exclusive: s.g.IntN(2) == 0, rest: s.g.IntN(4), end: ^uint64(0)}
		if s.ranges {
			if s.g.IntN(5) > 0 {
				a.first = s.g.Uint64N(6)
				a.end = a.first + 1 + s.g.Uint64N(3)
			}
			s.l.setRange(i, a.first, a.end)
		}
		s.l.announce(i)
		a.step = actAnnounced
	case actAnnounced:
		a.ticket = s.l.draw()
		s.order = append(s.order, i)
		a.step = actDrawn
	case actDrawn:
		s.l.publish(i, a.ticket, a.exclusive)
		a.step = actPublished
	case actPublished:
		if s.l.crowded(i) {
			s.l.unstall(i, s.ring)
		}
		a.step = actLook
	case actLook:
		a.seen, a.deaths = s.l.Moves().Load(), s.deaths
		a.found = s.l.Look(i, s.dead)
		a.step = actLooked
	case actLooked:
		switch {
		case a.found == LockFree:
			s.enter(i)
			s.l.Hold(i)
			a.step = actHeld
			if local, _ := s.l.ReapDead(s.dead); local >= 0 {
				if !s.actors[local].dead {
					s.fail("the living %d is reported dead", local)
				}
				s.told++
			}
		case a.deaths != s.deaths:
			a.step = actLook
		case a.found > a.flagged:
			s.l.AnnounceSleep(i, a.found)
			a.flagged = a.found
			a.step = actLook
		default:
			a.step, a.asleep, a.rung = actSleeping, true, false
			s.waits++
		}
	case actSleeping: // asleep until rung, or until it sees that Moves has moved before it sleeps
		if a.asleep && !a.rung && s.l.Moves().Load() <= a.seen {
			return
		}
		a.asleep = false
		a.step = actLook
	case actHeld:
		a.rest--
		if a.rest < 0 {
			s.l.retract(i)
			a.step = actRetracted
		}
	case actRetracted:
		s.l.leave(i)
		a.step = actLeft
	case actLeft:
		if s.l.crowded(i) {
			s.l.wake(i, s.dead, s.ring)
		}
		a.step = actIdle
	}
}

// kill ends claimant i before its next step. The others know of the death.
func (s *simulation) kill(i int) {
	a := &s.actors[i]
	if a.step == actHeld {
		s.killed++
	}
	if a.step < actHeld {
		s.forget(i)
	}
	a.dead = true
	s.dead.Add(i)
	s.deaths++
	for o := range s.actors {
		s.ring(o) // as proc.SetDown fires those who watch a word
	}
}

// quiet lets no claimant make a new claim, and reports whether all finish.
func (s *simulation) quiet() {
	for range 200 * len(s.actors) * len(s.actors) {
		idle := true
		for _, i := range s.g.Perm(len(s.actors)) {
			if a := &s.actors[i]; !a.dead && a.step != actIdle {
				idle = false
				s.act(i)
			}
		}
		if idle {
			return
		}
	}
	s.fail("some wait for ever: %+.400v", fmt.Sprint(s.actors))
}

func simulate(t *testing.T, seed uint64, deaths bool) *simulation {
	g := rand.New(rand.NewPCG(seed, 3))
	n := 1 + g.IntN(5)
	if seed%50 == 0 {
		n = 64 + g.IntN(3)
	}
	s := &simulation{t: t, seed: seed, g: g, ranges: seed%3 == 1, l: heapWindow(t, n).Lock(), actors: make([]actor, n+1), dead: NewDead(n)}
	for range 400 {
		i := g.IntN(n + 1)
		if s.actors[i].dead {
			continue
		}
		// The service does not die: the target would die with it.
		if deaths && i < n && g.IntN(60) == 0 {
			s.kill(i)
			continue
		}
		s.act(i)
	}
	s.quiet()
	return s
}

// histories is the number of histories: fewer with the race detector, which slows them down and has
// nothing to find in them.
func histories() uint64 {
	if sys.Race {
		return 3000
	}
	return 20000
}

// RW-09, RS-10: with any interleaving of their steps, claimants that conflict never hold the lock at the
// same time, hold it in the order of their tickets, and none sleeps for ever.
func TestLockHistories(t *testing.T) {
	waits := 0
	for seed := range histories() {
		waits += simulate(t, seed, false).waits
	}
	if waits < 500 {
		t.Errorf("only %d times somebody slept", waits)
	}
}

// F3: claimants die between any two steps. The others continue, and the death of each holder is reported
// to exactly one later holder.
func TestF3_LockHistoriesWithDeaths(t *testing.T) {
	died := 0
	for seed := range histories() {
		s := simulate(t, seed, true)
		// A claimant that is left takes the lock until no death is unreported.
		for range len(s.actors) {
			i := s.l.Service()
			s.act(i)
			s.quiet()
		}
		if s.told != s.killed {
			t.Fatalf("seed %d: %d died with the lock, %d were told of", seed, s.killed, s.told)
		}
		died += s.killed
		if s.l.crowded(s.l.Service()) {
			t.Fatalf("seed %d: bits of the dead are left: %x", seed, s.l.bits[0].Load())
		}
	}
	if died < 500 {
		t.Errorf("only %d died with the lock", died)
	}
}

// F3: the death of an origin on another node that held the lock is reported once.
func TestF3_OrphanIsToldOnce(t *testing.T) {
	l := heapWindow(t, 2).Lock()
	none := NewDead(2)
	if local, far := l.ReapDead(none); local != -1 || far != -1 {
		t.Errorf("nobody died: %d, %d", local, far)
	}
	l.Orphaned(5)
	if local, far := l.ReapDead(none); local != -1 || far != 5 {
		t.Errorf("told of %d, %d, want 5 on another node", local, far)
	}
	if local, far := l.ReapDead(none); local != -1 || far != -1 {
		t.Errorf("told again: %d, %d", local, far)
	}
}

// Contended tells a holder of a shared lock that another claimant wants it exclusively.
func TestLockContended(t *testing.T) {
	l := heapWindow(t, 3).Lock()
	dead := NewDead(3)
	ring := func(int) {}
	l.Claim(3, false, ring)
	l.Hold(3)
	l.Claim(0, false, ring)
	if l.Contended(3, dead) {
		t.Error("a reader is not in the way")
	}
	l.Claim(1, true, ring)
	if l.Look(1, dead) != LockTaken || !l.Contended(3, dead) {
		t.Error("a writer waits")
	}
	dead.Add(1)
	if l.Contended(3, dead) {
		t.Error("the dead do not wait")
	}
}

// Threads share the lock that do not sleep, but look repeatedly.
func TestLockExcludesThreads(t *testing.T) {
	const n = 4
	rounds := 3000
	if sys.Race {
		rounds = 600
	}
	w := heapWindow(t, n)
	l := w.Lock()
	var writers, readers atomic.Int32
	var guarded int // by the lock: the race detector sees
	var all sync.WaitGroup
	dead := NewDead(n)
	for i := range n + 1 {
		all.Go(func() {
			ring := func(int) {}
			g := rand.New(rand.NewPCG(uint64(i), 1))
			for range rounds {
				exclusive := g.IntN(2) == 0
				l.Claim(i, exclusive, ring)
				for l.Look(i, dead) != LockFree {
					runtime.Gosched()
				}
				l.Hold(i)
				if exclusive {
					if writers.Add(1) != 1 || readers.Load() != 0 {
						t.Error("a writer is not alone")
					}
					guarded++
					writers.Add(-1)
				} else {
					readers.Add(1)
					_ = guarded
					if writers.Load() != 0 {
						t.Error("a reader meets a writer")
					}
					readers.Add(-1)
				}
				l.Release(i, dead, ring)
			}
		})
	}
	all.Wait()
}

func BenchmarkLockUncontended(b *testing.B) {
	w, err := FormatWindow(heapMemory(WindowSize(4)), 1, 4)
	if err != nil {
		b.Fatal(err)
	}
	l, dead := w.Lock(), NewDead(4)
	ring := func(int) {}
	b.ReportAllocs()
	for b.Loop() {
		l.Claim(1, true, ring)
		if l.Look(1, dead) != LockFree {
			b.Fatal("taken")
		}
		l.Hold(1)
		l.Release(1, dead, ring)
	}
}

// F3: a holder that does not know of the death of another one does not wake who waits for both when it
// releases the lock. It does so when it learns of the death.
func TestF3_LateNewsOfADeath(t *testing.T) {
	for _, ranges := range []bool{false, true} {
		const n, waits, holds, dies = 3, 0, 1, 2
		l := heapWindow(t, n).Lock()
		rung := 0
		ring := func(int) { rung++ }
		claim := func(i int, exclusive bool) {
			if ranges {
				l.ClaimRange(i, exclusive, 0, 8, ring)
			} else {
				l.Claim(i, exclusive, ring)
			}
		}
		for _, i := range []int{holds, dies} {
			claim(i, false)
			l.Hold(i)
		}
		claim(waits, true)
		early, late := NewDead(n), NewDead(n)
		early.Add(dies)
		if found := l.Look(waits, early); found != LockTaken {
			t.Fatalf("the waiter finds %v", found)
		}
		l.AnnounceSleep(waits, LockTaken)
		if found := l.Look(waits, early); found != LockTaken {
			t.Fatalf("the waiter finds %v", found)
		}
		l.Release(holds, late, ring)
		if rung != 0 {
			t.Errorf("a release by who believes another holder alive rings %d times", rung)
		}
		before := l.Moves().Load()
		late.Add(dies)
		l.WakeAfterDeath(late, ring)
		if rung != 1 || l.Moves().Load() == before || l.Look(waits, early) != LockFree {
			t.Errorf("ranges %t: the news of the death ring %d times, and the waiter finds %v", ranges, rung, l.Look(waits, early))
		}
	}
}
