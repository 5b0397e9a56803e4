package proc_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// eachWatchdog runs test with the watchdog of programs in Go, and with one that sleeps elsewhere and returns after each tick.
func eachWatchdog(t *testing.T, test func(t *testing.T, policy proc.Policy)) {
	policy := proc.Policy{Loads: 4, Yields: shortly, Yield: runtime.Gosched}
	t.Run("goroutine", func(t *testing.T) { test(t, policy) })
	policy.Watchdog = func(_ *shmfmt.ProcessRecord, tick, _ time.Duration) { time.Sleep(tick) }
	t.Run("elsewhere", func(t *testing.T) { test(t, policy) })
}

// A process in polling mode that stops calling answers nevertheless, and again after it has
// entered polling mode once more.
func TestPollingProcessThatStopsAnswers(t *testing.T) { eachWatchdog(t, stopsAndAnswers) }

func stopsAndAnswers(t *testing.T, policy proc.Policy) {
	const rounds = 20
	events := make([]*proc.Event, rounds)
	for i := range events {
		events[i] = &proc.Event{}
	}
	p, peer := pairOf(t, policy, events)
	for i, e := range events {
		for polling := false; !polling; {
			p.Lock()
			p.Progress(-1)
			polling = p.PollingMode()
			p.Unlock()
		}
		if i%2 == 0 {
			waitForArmed(t, p) // the watchdog has ended polling mode, and the services have armed
		}
		fire(peer, int32(i))
		until(t, "the frame is taken while nobody calls", func() bool {
			p.Lock()
			defer p.Unlock()
			return e.Done()
		})
	}
}

// RS-08: a process in polling mode whose calls only look for the next frame of one peer, and find it, answers others
// nevertheless. A round in which the process was not called for a whole tick, so that polling mode has ended, shows nothing.
func TestPollingProcessThatOnlyLooksAnswers(t *testing.T) { eachWatchdog(t, looksAndAnswers) }

func looksAndAnswers(t *testing.T, policy proc.Policy) {
	const rounds = 1000
	events := make([]*proc.Event, rounds)
	for i := range events {
		events[i] = &proc.Event{}
	}
	p, peer := pairOf(t, policy, events)
	answered := false // in polling mode
	round := func(i int) {
		waitForArmed(t, p) // the services sleep, and nobody wakes them in polling mode
		for polling := false; !polling; {
			p.Lock()
			p.Progress(-1)
			polling = p.PollingMode()
			p.Unlock()
		}
		fire(peer, int32(i))
		until(t, "the frame is taken while calls only look", func() bool {
			done := false
			for looks := 0; looks < 100000 && !done; looks++ {
				p.Lock()
				p.Look()
				done, answered = events[i].Done(), p.PollingMode()
				p.Unlock()
			}
			return done
		})
	}
	for i := 0; !answered; i++ {
		if i == rounds {
			t.Fatalf("in %d rounds the process has answered only after it had left polling mode", rounds)
		}
		round(i)
	}
}

// A watchdog that sleeps elsewhere is called while polling mode lasts, with ticks that grow to the limit, and sleeps until
// there is something to do. It ends when the process does.
func TestWatchdogOfC(t *testing.T) {
	var stays atomic.Bool // in its next call
	var asleep, ended atomic.Int32
	policy := proc.Policy{Loads: 4, Yields: shortly, Yield: runtime.Gosched}
	policy.Watchdog = func(rec *shmfmt.ProcessRecord, tick, most time.Duration) {
		if tick > most {
			t.Errorf("a tick of %v, the limit is %v", tick, most)
		}
		if !stays.Load() {
			time.Sleep(tick)
			return
		}
		asleep.Add(1)
		for rec.Watch.Stop.Load() == 0 {
			sys.FutexWaitPrivate(&rec.Watch.Stop, 0)
		}
		ended.Add(1)
	}
	event := &proc.Event{}
	p, peer := runningPair(t, policy, []*proc.Event{event})
	enterPollingMode := func() {
		for polling := false; !polling; {
			p.Lock()
			p.Progress(-1)
			polling = p.PollingMode()
			p.Unlock()
		}
	}
	enterPollingMode()
	waitForArmed(t, p)
	fire(peer, 0)
	until(t, "the frame is taken while nobody calls", func() bool {
		p.Lock()
		defer p.Unlock()
		return event.Done()
	})
	stays.Store(true)
	enterPollingMode()
	until(t, "the watchdog sleeps", func() bool { return asleep.Load() > 0 })
	stopped := make(chan struct{})
	go func() {
		p.Stop()
		close(stopped)
	}()
	until(t, "the process ends", closed(stopped))
	if asleep.Load() != 1 || ended.Load() != 1 {
		t.Errorf("the watchdog has slept %d times, and has ended %d times", asleep.Load(), ended.Load())
	}
	peer.Stop()
}
