package fabrictest

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// testFrameEndsSleep passes one frame to and fro; whoever waits for it sleeps.
func testFrameEndsSleep(t *testing.T, open opener) {
	j := newJob(t, open, 2, 9, smallSize)
	rounds := open.scale(5000)
	j.plan(0, 1, rounds)
	j.plan(1, 0, rounds)
	j.each(func(r *rank) {
		l := &r.traffic[1-r.me]
		until := func(reached func() bool) {
			for !j.failed() {
				r.mu.Lock()
				ok := reached()
				r.mu.Unlock()
				if ok {
					return
				}
				randomDelay(r.rng)
				r.sleepUntil(reached)
			}
		}
		for i := range rounds {
			if r.me == 1 {
				until(func() bool { return l.got > i })
			}
			until(func() bool { return l.sent > i || r.send(1-r.me) })
			if r.me == 0 {
				until(func() bool { return l.got > i })
			}
		}
	}, j.ranks...)
}

// engine adds a service goroutine to a rank. It sleeps in the fabric, and delivers the frames that
// arrive while nobody polls.
type engine struct {
	*rank
	moved *sync.Cond // under the rank's lock: something was delivered or sent
	user  *rand.Rand // for the user's goroutine, which may use rank.rng only under the rank's lock
	over  bool       // the service is to end
}

func (e *engine) serve() {
	for {
		e.sleep()
		e.mu.Lock()
		if e.over || e.job.failed() {
			e.moved.Broadcast()
			e.mu.Unlock()
			return
		}
		e.turnAndArm()
		e.mu.Unlock()
	}
}

// turnAndArm polls until nothing is left and the fabric is armed. The caller holds the lock.
func (e *engine) turnAndArm() {
	for {
		e.f.Disarm()
		for e.f.Poll(e.rank, -1)+e.push() > 0 {
			e.moved.Broadcast()
		}
		randomDelay(e.rng) // room may appear while the fabric is disarmed
		e.f.Arm()
		if e.f.Poll(e.rank, -1) == 0 {
			return
		}
		e.moved.Broadcast()
	}
}

// wait is a user's blocking call: it polls for a while, then arms the fabric and
// leaves the rest to the service.
func (e *engine) wait(done func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.f.Disarm()
	for range e.user.IntN(30) {
		if done() {
			break
		}
		if e.f.Poll(e.rank, -1)+e.push() > 0 {
			e.moved.Broadcast()
		}
		if e.user.IntN(4) == 0 {
			e.mu.Unlock()
			randomDelay(e.user)
			e.mu.Lock()
			e.f.Disarm()
		}
	}
	e.turnAndArm()
	for !done() && !e.job.failed() {
		e.moved.Wait()
	}
}

// testServiceStandsIn exchanges bursts that are too large to be sent at once, between users
// that stop polling at any point. The service, which may be inside Sleep all the time, must
// notice room that appears while the user polls, and frames that arrive as the user leaves.
func testServiceStandsIn(t *testing.T, open opener) {
	j := newJob(t, open, 2, 10, anySize)
	rounds, burst := open.scale(2000), 40
	var tasks []func()
	for _, r := range j.ranks {
		e := &engine{rank: r, moved: sync.NewCond(&r.mu), user: rand.New(rand.NewPCG(10, uint64(r.me)))}
		l := &r.traffic[1-r.me]
		tasks = append(tasks, e.serve, func() {
			for i := range rounds {
				n := 1
				if i%2 == r.me {
					n = burst
				}
				e.mu.Lock()
				l.plan += n
				l.expect = (i+1)/2*burst + (i+2)/2 // rank 1 sends a burst in odd rounds
				if r.me == 1 {
					l.expect = (i+2)/2*burst + (i+1)/2
				}
				e.mu.Unlock()
				if e.user.IntN(3) > 0 {
					e.wait(func() bool { return l.sent == l.plan })
				}
				e.wait(func() bool { return l.sent == l.plan && l.got >= l.expect })
				if j.failed() {
					break
				}
			}
			e.mu.Lock()
			e.over = true
			e.mu.Unlock()
			e.f.Wake()
		})
	}
	j.watch(tasks...)
}

// testWakeEndsSleep wakes a rank that sleeps or is about to, armed or not.
func testWakeEndsSleep(t *testing.T, open opener) {
	j := newJob(t, open, 1, 11, smallSize)
	r := j.ranks[0]
	rounds := open.scale(5000)
	var called atomic.Int64
	next := make(chan struct{})
	j.watch(func() {
		defer close(next)
		for i := range int64(rounds) {
			if i%2 == 0 {
				r.mu.Lock()
				r.f.Arm()
				r.mu.Unlock()
			}
			next <- struct{}{}
			for called.Load() <= i && !j.failed() {
				randomDelay(r.rng)
				r.sleep()
			}
			j.progress.Add(1)
		}
	}, func() {
		rng := rand.New(rand.NewPCG(11, 11))
		for range next {
			randomDelay(rng)
			called.Add(1)
			r.f.Wake()
		}
	})
}

// testCloseEndsSleep closes a fabric while a goroutine sleeps in it or is about to. Later calls of Sleep
// return at once.
func testCloseEndsSleep(t *testing.T, open opener) {
	open.repeat(t, 50, func(t *testing.T, i int) {
		j := newJob(t, open, 1+i%2, uint64(i), smallSize)
		j.each(func(r *rank) {
			if i%3 == 0 {
				r.f.Arm()
			}
			var all sync.WaitGroup
			all.Go(func() {
				for !r.ended.Load() {
					r.sleep()
				}
			})
			if i%4 == 0 {
				for !r.asleep.Load() {
					runtime.Gosched()
				}
			}
			randomDelay(r.rng)
			r.close()
			all.Wait()
			for range 3 {
				r.f.Sleep()
			}
			r.f.Wake()
		}, j.ranks...)
	})
}
