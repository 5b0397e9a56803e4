package proc_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/proc"
)

// Threads that wait sleep and continue like goroutines, also if all are woken at once, and if
// some begin to wait while others are being woken. There is a P for each.
func TestThreadsWaitTogether(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const threads, rounds = 32, 20
	events := make([]*proc.Event, threads)
	for i := range events {
		events[i] = new(proc.Event)
	}
	p, peer := pairOf(t, proc.Policy{Loads: 4, Yields: forever, Yield: runtime.Gosched, Threads: true}, events)
	var all sync.WaitGroup
	gone, again := make(chan struct{}, threads), make([]chan struct{}, threads)
	for i := range threads {
		again[i] = make(chan struct{}, 1)
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range rounds {
				p.Lock()
				p.Wait(events[i], -1)
				events[i].Reset()
				p.Unlock()
				gone <- struct{}{}
				<-again[i]
			}
		})
	}
	for round := range rounds {
		until(t, "all wait", parked(p, threads-1))
		if round == 0 { // GOMAXPROCS is raised by a thread that is parked already
			until(t, "there is a P for each thread", func() bool { return runtime.GOMAXPROCS(0) >= threads })
		}
		if round%2 == 0 { // at once
			p.Lock()
			for _, e := range events {
				e.Fire()
			}
			p.Unlock()
		} else { // as the poller finds them
			for i := range events {
				fire(peer, int32(i))
			}
		}
		for range threads {
			<-gone
		}
		for i := range again {
			again[i] <- struct{}{}
		}
	}
	all.Wait()
	p.Lock()
	defer p.Unlock()
	if p.Woken() || p.Parked() != 0 {
		t.Errorf("woken %v, parked %d when all have gone on", p.Woken(), p.Parked())
	}
}

// Threads that raise the number of Ps at the same time never lower it.
func TestPsAreNeverLowered(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	p, _ := pairOf(t, proc.Policy{Loads: 4, Yields: forever, Yield: runtime.Gosched, Threads: true}, nil)
	for range 50 {
		runtime.GOMAXPROCS(3)
		var all sync.WaitGroup
		start := make(chan struct{})
		for i := range 16 {
			all.Go(func() {
				<-start
				p.RaisePs(4 + i)
			})
		}
		all.Go(func() {
			<-start
			p.AddP()
		})
		close(start)
		all.Wait()
		if n := runtime.GOMAXPROCS(0); n != 19 && n != 20 {
			t.Fatalf("%d Ps after raising to 4 to 19, and by one, at the same time", n)
		}
	}
}

// A thread that is woken to take over as the poller, and finds that its own event has happened,
// wakes the next.
func TestWakeUpIsPassedOnAmongThreads(t *testing.T) {
	for range 20 {
		events := []*proc.Event{new(proc.Event), new(proc.Event), new(proc.Event)}
		p, peer := pairOf(t, proc.Policy{Loads: 4, Yields: forever, Yield: runtime.Gosched, Threads: true}, events)
		var done [3]chan struct{}
		done[0] = waiter(p, events[0], func() { events[1].Fire() })
		until(t, "the first polls", func() bool {
			p.Lock()
			defer p.Unlock()
			return p.Polling()
		})
		for i := 1; i < 3; i++ {
			done[i] = waiter(p, events[i], nil)
			until(t, "another parks", parked(p, i))
		}
		fire(peer, 0)
		until(t, "the first waiter goes on", closed(done[0]))
		until(t, "the second waiter goes on", closed(done[1]))
		fire(peer, 2)
		until(t, "the third waiter goes on", closed(done[2]))
	}
}

// polls is a worker that counts polls.
type polls struct{ n atomic.Int64 }

func (c *polls) Work() int {
	c.n.Add(1)
	return 0
}

// A poller without back-off yields its core to threads that may be about to call: for some time
// after another thread has waited, and not before.
func TestPollerYieldsForThreadsToCome(t *testing.T) {
	var yields atomic.Int64
	var poller atomic.Pointer[proc.Proc]
	var first, second proc.Event
	var c polls
	policy := proc.Policy{Loads: forever, Slice: time.Hour, Threads: true, Yield: func() {
		if p := poller.Load(); p != nil && !p.Wanted() { // else it yields to a waiter for the lock
			yields.Add(1)
		}
		runtime.Gosched()
	}}
	p, _ := pairOf(t, policy, nil, &c)
	poller.Store(p)
	p.Lock()
	p.SetBusy(1)
	p.Unlock()
	var done [2]chan struct{}
	for i, e := range []*proc.Event{&first, &second} {
		before, going := int64(0), make(chan struct{})
		done[i] = make(chan struct{})
		go func() {
			p.Lock()
			before = yields.Load()
			close(going)
			p.Wait(e, -1)
			p.Unlock()
			close(done[i])
		}()
		<-going
		if i > 0 {
			until(t, "the poller yields", func() bool { return yields.Load() >= before+proc.YieldMax*3/4 })
		}
		polled := c.n.Load()
		until(t, "the poller polls on", func() bool { return c.n.Load() > polled+4*proc.YieldEvery*proc.YieldMax })
		if n := yields.Load() - before; n > int64(i)*proc.YieldMax*3/2+20 { // some to who takes the lock in between
			t.Errorf("wait %d: the poller yields %d times", i, n)
		}
	}
	p.Lock()
	first.Fire()
	second.Fire()
	p.SetBusy(-1)
	p.Unlock()
	for _, d := range done {
		until(t, "both go on", closed(d))
	}
}

// A poller that waits for what needs threads of peers yields its core to them, also for the first of
// several events of which one does; with more processes than may yield it does not, and for other
// events neither.
func TestPollerYieldsForThreadsOfPeers(t *testing.T) {
	for _, x := range []struct {
		name         string
		often, group bool
		policy       bool // Often
		want         bool
	}{
		{"often", true, false, true, true},
		{"often, one of several", true, true, true, true},
		{"not", false, false, true, false},
		{"not, one of several", false, true, true, false},
		{"oversubscribed", true, false, false, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			var yields atomic.Int64
			var c polls
			policy := proc.Policy{Loads: forever, Often: x.policy, Slice: time.Hour, Yield: func() { yields.Add(1) }}
			p, _ := pairOf(t, policy, nil, &c)
			var e, group, other proc.Event
			e.YieldOften(x.often)
			waited := &e
			if x.group {
				other.Also(&group)
				e.Also(&group)
				waited = &group
			}
			p.Lock()
			p.SetBusy(1)
			p.Unlock()
			done := waiter(p, waited, nil)
			const times = 1000
			until(t, "the poller polls", func() bool { return c.n.Load() > times*proc.YieldEvery })
			if n := yields.Load(); x.want && n < times/2 || !x.want && n > 0 {
				t.Errorf("%d yields in %d polls", n, c.n.Load())
			}
			p.Lock()
			e.Fire()
			p.SetBusy(-1)
			p.Unlock()
			until(t, "the poller goes on", closed(done))
		})
	}
}

// A poller that yields for threads, of its process or of peers, soon stops if its yields last, as all do here: a stranger
// had the core. It yields again when another thread waits, or after some time.
func TestPollersKeepTheirCoresFromStrangers(t *testing.T) {
	for _, threads := range []bool{true, false} {
		var yields atomic.Int64
		var poller atomic.Pointer[proc.Proc]
		var c polls
		policy := proc.Policy{Loads: forever, Often: true, Threads: threads, Yield: func() {
			if p := poller.Load(); p != nil && !p.Wanted() {
				yields.Add(1)
			}
			runtime.Gosched()
		}}
		p, _ := pairOf(t, policy, nil, &c)
		poller.Store(p)
		p.Lock()
		p.SetBusy(1)
		p.Unlock()
		for wait := range int64(2) {
			var first, second proc.Event
			first.YieldOften(!threads)
			before := yields.Load()
			done := []chan struct{}{waiter(p, &first, nil)}
			until(t, "the first polls", func() bool {
				p.Lock()
				defer p.Unlock()
				return p.Polling()
			})
			if threads {
				done = append(done, waiter(p, &second, nil))
				until(t, "the second sleeps", parked(p, 1))
			}
			until(t, "the poller yields", func() bool { return yields.Load() > before })
			polled := c.n.Load()
			until(t, "the poller polls on", func() bool { return c.n.Load() > polled+1000*proc.YieldEvery })
			if n := yields.Load() - before; n > 20 { // some to who takes the lock in between
				t.Errorf("threads %v, wait %d: %d yields", threads, wait, n)
			}
			p.Lock()
			second.Fire()
			first.Fire()
			p.Unlock()
			for _, d := range done {
				until(t, "all go on", closed(d))
			}
		}
		p.Lock()
		p.SetBusy(-1)
		p.Unlock()
	}
}

// A thread that wants to leave its call does so where it waits, without the lock, and others wait as before.
func TestBRD01_ThreadsLeaveCallsThatWait(t *testing.T) {
	events := []*proc.Event{new(proc.Event), new(proc.Event)}
	var leavers atomic.Uint32
	leave := func(now bool) bool {
		if now {
			leavers.Add(^uint32(0))
			runtime.Goexit()
		}
		return true
	}
	p, peer := pairOf(t, proc.Policy{Loads: 4, Yields: forever, Yield: runtime.Gosched, Threads: true, Leavers: &leavers, Leave: leave}, events)
	wait := func(e *proc.Event, after *bool) chan struct{} {
		left := make(chan struct{})
		go func() {
			defer close(left)
			runtime.LockOSThread()
			p.Lock()
			p.Wait(e, -1)
			p.Unlock()
			*after = true
		}()
		return left
	}
	var first, second bool
	left := wait(events[0], &first)
	until(t, "it polls", func() bool {
		p.Lock()
		defer p.Unlock()
		return p.Polling()
	})
	leavers.Add(1)
	<-left
	left = wait(events[1], &second)
	fire(peer, 1)
	<-left
	p.Lock()
	defer p.Unlock()
	if first || !second || p.Woken() || p.Parked() != 0 {
		t.Errorf("the first has waited %v, the second %v, woken %v, parked %d", first, second, p.Woken(), p.Parked())
	}
}

// told is an About that counts how often a thread has left the call that waits for it.
type told struct{ left int }

func (*told) AppendAbout(b []byte) []byte { return b }
func (o *told) Left()                     { o.left++ }

// A thread whose wish to leave comes while it looks, because another thread wants to leave, leaves as late as it has
// told what it waits for: else that stays, and MPI_Finalize finds a probe that waits.
func TestBRD01_ThreadsTellWhatTheyLeave(t *testing.T) {
	e, about := new(proc.Event), new(told)
	var leavers atomic.Uint32
	var wants bool
	leave := func(now bool) bool {
		did := wants
		wants = true // by a signal that comes just then
		if now && did {
			leavers.Store(0)
			runtime.Goexit()
		}
		return did
	}
	p, _ := pairOf(t, proc.Policy{Loads: 4, Yields: forever, Yield: runtime.Gosched, Threads: true, Leavers: &leavers, Leave: leave}, []*proc.Event{e, new(proc.Event)})
	e.About = about
	leavers.Store(1)
	left := make(chan struct{})
	go func() {
		defer close(left)
		runtime.LockOSThread()
		p.Lock()
		p.Wait(e, -1)
		p.Unlock()
	}()
	<-left
	p.Lock()
	defer p.Unlock()
	if about.left != 1 {
		t.Errorf("the thread has left its call, and told of it %d times", about.left)
	}
}
