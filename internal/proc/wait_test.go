package proc_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/wire"
)

// frames is a sink that hands every frame to fn.
type frames struct {
	fn   func(from int, h *wire.Header)
	down func(peer int, cause error)
}

func (s *frames) Frame(from int, h *wire.Header, _ []byte) { s.fn(from, h) }
func (s *frames) Place(from int, h *wire.Header) []byte    { return nil }
func (s *frames) Placed(from int, h *wire.Header)          {}
func (s *frames) Down(peer int, cause error) {
	if s.down != nil {
		s.down(peer, cause)
	}
}

// How many times a poller of these tests polls before it parks.
const (
	shortly = 20
	forever = 1 << 60
)

// pair returns two processes. Frames to the first fire the event with the index in their tag, and
// workers belong to the first.
func pair(t *testing.T, yields int, events []*proc.Event, workers ...proc.Worker) (a, b *proc.Proc) {
	t.Helper()
	return pairOf(t, proc.Policy{Loads: 4, Yields: yields, Yield: runtime.Gosched}, events, workers...)
}

func pairOf(t *testing.T, policy proc.Policy, events []*proc.Event, workers ...proc.Worker) (a, b *proc.Proc) {
	t.Helper()
	a, b = runningPair(t, policy, events, workers...)
	t.Cleanup(func() {
		a.Stop()
		b.Stop()
	})
	return a, b
}

// runningPair is pairOf of processes that the caller stops.
func runningPair(t *testing.T, policy proc.Policy, events []*proc.Event, workers ...proc.Worker) (a, b *proc.Proc) {
	t.Helper()
	w, err := inproc.New(2)
	if err != nil {
		t.Fatal(err)
	}
	boots := boot.Memory(2)
	open := func(i int, s *frames, workers ...proc.Worker) *proc.Proc {
		node, err := w.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		p, err := proc.New(boots[i], node, nil, policy)
		if err != nil {
			t.Fatal(err)
		}
		p.Start(s, workers...)
		return p
	}
	a = open(0, &frames{fn: func(_ int, h *wire.Header) { events[h.Tag].Fire() }}, workers...)
	b = open(1, &frames{fn: func(int, *wire.Header) {}})
	return a, b
}

// fire sends the frame that fires event tag of the other process.
func fire(p *proc.Proc, tag int32) {
	h := wire.Header{Kind: wire.User, Tag: tag}
	p.Lock()
	p.Queue(0, &h, nil, nil)
	p.Unlock()
}

// waiter waits for an event in a goroutine of its own; done is closed after.
func waiter(p *proc.Proc, e *proc.Event, then func()) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		p.Lock()
		p.Wait(e, -1)
		if then != nil {
			then()
		}
		p.Unlock()
		close(done)
	}()
	return done
}

// A waiter polls on after its loads as long as it has its core for itself, and for a given time at most. If it loses its
// core, it sleeps, and so does the next waiter after its loads.
func TestWaitersPollOnWhileTheyHaveTheirCores(t *testing.T) {
	for _, threads := range []bool{true, false} {
		for _, x := range []struct {
			longer, slice time.Duration
			sleeps        bool
		}{{0, time.Hour, true}, {time.Hour, time.Hour, false}, {time.Nanosecond, time.Hour, true}, {time.Hour, 0, true}} {
			var c polls
			p, _ := pairOf(t, proc.Policy{Loads: 4, Longer: x.longer, Slice: x.slice, Threads: threads, Yield: runtime.Gosched}, nil, &c)
			p.Lock()
			p.SetBusy(1)
			p.Unlock()
			for wait := range 2 {
				var e proc.Event
				before := c.n.Load()
				done := waiter(p, &e, nil)
				asleep := parked(p, 1)
				until(t, "the waiter sleeps, or polls on", func() bool { return asleep() || c.n.Load() > before+1000*proc.LongerEvery })
				p.Lock()
				if sleeps := p.Parked() != 0; sleeps != x.sleeps {
					t.Errorf("threads %v, polls on for %v, slice %v, wait %d: the waiter sleeps: %v", threads, x.longer, x.slice, wait, sleeps)
				}
				e.Fire()
				p.Unlock()
				until(t, "the waiter goes on", closed(done))
			}
			p.Lock()
			p.SetBusy(-1)
			p.Unlock()
		}
	}
}

// until waits, without the lock, until ok returns true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testrun.Until(t, what, ok)
}

func closed(c chan struct{}) func() bool {
	return func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
}

func parked(p *proc.Proc, n int) func() bool {
	return func() bool {
		p.Lock()
		defer p.Unlock()
		return p.Parked() == n
	}
}

// waitForArmed waits until p is in interrupt mode and its service sleeps.
func waitForArmed(t *testing.T, p *proc.Proc) {
	until(t, "the service sleeps", func() bool {
		p.Lock()
		defer p.Unlock()
		return p.Armed()
	})
}

// threeWait starts a waiter for each of three events: the first polls, the
// others are parked, and the service sleeps with the fabric disarmed. then runs
// in the first, with the lock held, when its wait is over.
func threeWait(t *testing.T, events []*proc.Event, then func()) (peer *proc.Proc, done [3]chan struct{}) {
	p, peer := pair(t, forever, events)
	waitForArmed(t, p)
	done[0] = waiter(p, events[0], then)
	until(t, "the first polls", func() bool {
		p.Lock()
		defer p.Unlock()
		return p.Polling()
	})
	for i := 1; i < 3; i++ {
		done[i] = waiter(p, events[i], nil)
		until(t, "another parks", parked(p, i))
	}
	return peer, done
}

// countedWork is a worker with left units of work.
type countedWork struct {
	p    *proc.Proc
	left int
}

func (c *countedWork) Work() int {
	if c.left == 0 {
		return 0
	}
	c.left--
	c.p.SetBusy(-1)
	return 1
}

// Work that a call leaves is done although nobody waits and nothing arrives.
func TestWorkIsDoneWhileTheProgramComputes(t *testing.T) {
	c := &countedWork{}
	p, _ := pair(t, shortly, nil, c)
	c.p = p
	for range 50 {
		waitForArmed(t, p)
		p.Lock()
		c.left += 3
		p.SetBusy(3)
		p.Unlock()
		until(t, "the work is done", func() bool {
			p.Lock()
			defer p.Unlock()
			return c.left == 0
		})
	}
}

// A waiter that is woken to take over as the poller, and finds that its own event has happened,
// wakes the next.
func TestWakeUpIsPassedOn(t *testing.T) {
	for range 20 {
		events := []*proc.Event{new(proc.Event), new(proc.Event), new(proc.Event)}
		peer, done := threeWait(t, events, func() { events[1].Fire() })
		fire(peer, 0)
		until(t, "the first waiter is woken", closed(done[0]))
		until(t, "the second waiter is woken", closed(done[1]))
		fire(peer, 2)
		until(t, "the third waiter is woken", closed(done[2]))
	}
}

// The same when the event watches a word of shared memory, so that it happens without a poll.
func TestWakeUpIsPassedOnByWatchers(t *testing.T) {
	for range 20 {
		events := []*proc.Event{new(proc.Event), new(proc.Event), new(proc.Event)}
		var word atomic.Uint64
		var sleepers atomic.Uint32
		events[1].Watch(&word, 1, &sleepers)
		peer, done := threeWait(t, events, func() { word.Store(1) })
		fire(peer, 0)
		until(t, "the first waiter is woken", closed(done[0]))
		until(t, "the second waiter is woken", closed(done[1]))
		fire(peer, 2)
		until(t, "the third waiter is woken", closed(done[2]))
	}
}

// counter is a worker that counts polls, and fires an event in one of them.
type counter struct {
	polls, at int
	e         *proc.Event
}

func (c *counter) Work() int {
	c.polls++
	if c.polls == c.at {
		c.e.Fire()
	}
	return 0
}

// A poller without back-off yields to a goroutine that it has woken, when there is one thread for
// both.
func TestPollerGivesWayToTheWoken(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 20 {
		var first, second proc.Event
		c := &counter{e: &second}
		p, _ := pairOf(t, proc.Policy{Loads: forever, Yield: runtime.Gosched}, nil, c)
		p.Lock()
		p.SetBusy(1)
		done := waiter(p, &first, nil)
		for !p.Polling() {
			p.Pause()
		}
		c.at = c.polls + 1000
		p.Wait(&second, -1)
		if late := c.polls - c.at; late > 10 {
			t.Errorf("the woken goroutine went on %d polls later", late)
		}
		p.SetBusy(-1)
		first.Fire()
		p.Unlock()
		until(t, "the poller ends", closed(done))
	}
}

// A service that wakes up when all waiters have been woken and do not run yet does not arm in
// polling mode: the waiters poll.
func TestServiceLeavesTheWokenAlone(t *testing.T) {
	for _, threads := range []bool{false, true} {
		events := []*proc.Event{new(proc.Event), new(proc.Event)}
		p, _ := pairOf(t, proc.Policy{Loads: 4, Yields: forever, Yield: runtime.Gosched, Threads: threads}, events)
		for range 40 {
			for polling := false; !polling; {
				p.Lock()
				p.Progress(-1)
				polling = p.PollingMode()
				p.Unlock()
			}
			var done [2]chan struct{}
			done[0] = waiter(p, events[0], nil)
			done[1] = waiter(p, events[1], nil)
			until(t, "one parks", parked(p, 1))
			p.Lock()
			for _, e := range events {
				e.Fire()
			}
			p.Unlock()
			p.Node().Wake()
			for _, d := range done {
				until(t, "both go on", closed(d))
			}
			p.Lock()
			if p.PollingMode() && p.Armed() {
				t.Errorf("threads %v: the service has armed", threads)
			}
			for _, e := range events {
				e.Reset()
			}
			p.Unlock()
		}
	}
}
