package fabrictest

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/internal/wire"
)

// kill ends a rank as if its process were killed.
func (r *rank) kill() {
	r.mu.Lock()
	r.ended.Store(true)
	if k, ok := r.f.(Killer); ok {
		k.Kill()
	} else if err := r.f.Close(); err != nil {
		r.job.failf("rank %d: Close: %v", r.me, err)
	}
	r.mu.Unlock()
	r.f.Wake()
}

// testCloseLosesNothing closes a fabric as soon as it has accepted the last frame. The peer gets all
// frames.
func testCloseLosesNothing(t *testing.T, open opener) {
	open.repeat(t, 20, func(t *testing.T, i int) {
		j := newJob(t, open, 2, uint64(i), anySize)
		j.plan(0, 1, 1+i*20)
		from, to := j.ranks[0], j.ranks[1]
		j.mayFail[0].Store(true) // it is Down once it is closed
		j.watch(func() {
			from.drive(func() bool { return from.traffic[1].sent == from.traffic[1].plan })
			from.close()
		}, func() {
			to.drive(func() bool { return to.traffic[0].got == to.traffic[0].expect || to.traffic[0].down })
			if l := &to.traffic[0]; l.got != l.expect {
				j.failf("the peer closed after %d frames were taken, %d arrived", l.expect, l.got)
			}
		})
	})
}

const endless = 1 << 30 // frames

// testDeath kills one of three ranks at every step of its traffic with the two others. Each survivor
// gets Down once, after whole frames in order, and continues with the other survivor.
func testDeath(t *testing.T, open opener) {
	const victim = 1
	for _, step := range []struct {
		name string
		warm bool                      // all have exchanged frames with all before
		act  func(j *job, dying *rank) // called just before dying is killed
	}{
		{name: "BeforeAnything"},
		{name: "Quiet", warm: true},
		{name: "FramesUnread", warm: true, act: func(j *job, dying *rank) {
			j.plan(victim, 0, 100)
			j.plan(victim, 2, 50)
			dying.mu.Lock()
			defer dying.mu.Unlock()
			dying.push()
		}},
		{name: "FirstFramesUnread", act: func(j *job, dying *rank) {
			j.plan(victim, 0, 3)
			dying.mu.Lock()
			defer dying.mu.Unlock()
			dying.push()
		}},
		{name: "SendsToItRefused", warm: true, act: func(j *job, dying *rank) {
			j.ranks[0].fill(victim)
		}},
		{name: "ItsSendsRefused", warm: true, act: func(j *job, dying *rank) {
			dying.fill(0)
		}},
	} {
		t.Run(step.name, func(t *testing.T) {
			open.repeat(t, 12, func(t *testing.T, i int) {
				j := newJob(t, open, 3, uint64(i), anySize)
				if step.warm {
					warm(j)
				}
				j.mayFail[victim].Store(true)
				if step.act != nil {
					j.watch(func() { step.act(j, j.ranks[victim]) })
				}
				j.ranks[victim].kill()
				checkSurvivors(j, victim)
			})
		})
	}
	t.Run("WhileStreaming", func(t *testing.T) {
		open.repeat(t, 36, func(t *testing.T, i int) {
			j := newJob(t, open, 3, uint64(i), anySize)
			if i%2 == 0 {
				warm(j)
			}
			stream(j, victim, func(rng *rand.Rand) {
				for at := int64(rng.IntN(1000)); j.progress.Load() < at && !j.failed(); {
					runtime.Gosched()
				}
			})
		})
	})
	t.Run("WhileOthersSleep", func(t *testing.T) {
		open.repeat(t, 36, func(t *testing.T, i int) {
			j := newJob(t, open, 3, uint64(i), anySize)
			warm(j)
			j.mayFail[victim].Store(true)
			down := func(r *rank) bool { return r.traffic[victim].down }
			kill := make(chan struct{})
			go func() {
				rng := rand.New(rand.NewPCG(uint64(i), 0))
				for n := 0; n < 2 && !j.failed(); runtime.Gosched() {
					n = 0
					for _, r := range j.ranks {
						if r.me != victim && r.asleep.Load() {
							n++
						}
					}
				}
				randomDelay(rng)
				j.ranks[victim].kill()
				close(kill)
			}()
			j.runUntil(down, j.ranks[0], j.ranks[2])
			<-kill
			checkSurvivors(j, victim)
		})
	})
}

// warm sends a frame from each rank to each other.
func warm(j *job) {
	for from := range j.ranks {
		for to := range j.ranks {
			j.plan(from, to, 1)
		}
	}
	j.run()
}

// stream kills the victim, after pause, while it and the other ranks send to each other without end.
func stream(j *job, victim int, pause func(*rand.Rand)) {
	j.mayFail[victim].Store(true)
	for other := range j.ranks {
		j.plan(victim, other, endless)
		j.plan(other, victim, endless)
	}
	dead := make(chan struct{})
	go func() {
		pause(rand.New(rand.NewPCG(j.pattern.seed, 13)))
		j.ranks[victim].kill()
		close(dead)
	}()
	j.runUntil(func(r *rank) bool { return r.ended.Load() || r.complete() })
	<-dead
	checkSurvivors(j, victim)
}

// checkSurvivors drives the survivors, which still send to the victim, until all have got
// its Down and have exchanged more frames among themselves. From then on their fabrics accept and
// discard every frame to the victim, and deliver none from it.
func checkSurvivors(j *job, victim int) {
	j.t.Helper()
	var survivors []*rank
	for _, r := range j.ranks {
		if r.me != victim {
			survivors = append(survivors, r)
			if l := &r.traffic[victim]; l.plan < endless {
				l.plan = endless
			}
			for to := range j.ranks {
				if to != victim {
					j.plan(r.me, to, 100)
				}
			}
		}
	}
	j.runUntil(func(r *rank) bool { return r.traffic[victim].down && r.complete() }, survivors...)
	for _, r := range survivors {
		r.traffic[victim].plan = 0
		payload := make([]byte, j.pattern.limit)
		for i := range 1000 {
			h := wire.Header{Kind: wire.Data, Size: uint32(len(payload))}
			if !r.f.Send(victim, &h, payload) {
				j.t.Fatalf("rank %d: Send %d to the dead was refused", r.me, i)
			}
			r.f.Poll(r, victim) // fails the test if anything arrives from the victim
		}
	}
	for _, r := range survivors {
		for to := range j.ranks {
			if to != victim {
				j.plan(r.me, to, 10)
			}
		}
	}
	j.run(survivors...)
}

// testHostilePeer makes one of three ranks break the protocol. The others never panic or
// hang, and their own traffic is not affected; the hostile one may be Down.
func testHostilePeer(t *testing.T, open opener) {
	const hostile = 1
	open.repeat(t, 80, func(t *testing.T, i int) {
		j := newJob(t, open, 3, uint64(i), anySize)
		attacker, ok := j.ranks[hostile].f.(Injector)
		if !ok {
			return // this fabric has no way to break its protocol
		}
		j.mayFail[hostile].Store(true)
		for _, r := range j.ranks {
			r.traffic[hostile].hostile = true
		}
		j.plan(0, 2, 200)
		j.plan(2, 0, 200)
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			rng := rand.New(rand.NewPCG(uint64(i), 14))
			for range rng.IntN(20) {
				h, payload := j.pattern.frame(hostile, 0, 0, rng.IntN(1000))
				attacker.Send(0, &h, payload)
			}
			for range 1 + rng.IntN(5) {
				attacker.Inject(0, rng)
				randomDelay(rng)
			}
		}()
		// A hostile peer may change the doorbells and so suppress a wake-up. That is
		// possible in shared memory only, which only processes of one user share. So
		// no rank sleeps in this test.
		for _, r := range j.ranks {
			r.idlePolls = endless
		}
		j.runUntil(func(r *rank) bool {
			for k := range r.traffic {
				if l := &r.traffic[k]; k != hostile && (l.sent < l.plan || l.got < l.expect) {
					return false
				}
			}
			return true
		}, j.ranks[0], j.ranks[2])
		<-stop
		for range 100 {
			j.ranks[0].f.Poll(j.ranks[0], -1)
		}
	})
}
