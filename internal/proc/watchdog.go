package proc

import (
	"time"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

const (
	// tick is how long a process in polling mode may make no call before it returns to
	// interrupt mode. The last call may come just after the watchdog has checked, so a
	// process that has stopped calling answers nobody for up to two ticks.
	tick = time.Millisecond
	// tickMax is the limit to which the tick doubles while polling mode lasts.
	tickMax = 8 * time.Millisecond
	// pollingAfter is how many calls in a row arm before polling mode begins.
	pollingAfter = 32
)

// Watchdog sleeps in another language for a process in polling mode, and checks after each tick, which doubles up to most. It
// returns when the process has made no call for a tick, when something waits that its calls do not look at, or when
// process.Watch.Stop is not 0.
type Watchdog func(process *shmfmt.ProcessRecord, tick, most time.Duration)

// enterPollingMode begins polling mode: calls do not arm any more, until the watchdog finds that
// there are none.
func (p *Proc) enterPollingMode() {
	p.setSlow(shmfmt.SlowInterrupt, false)
	p.armingCalls = 0
	p.rec.Watch.SeenActivity, p.rec.Watch.SeenPolls = p.rec.Activity, 0 // the watchdog does not use them before
	p.modeEntered <- struct{}{}                                         // has room: the watchdog received the last one before it ended polling mode
}

// watchdog checks after each tick whether a process in polling mode still calls. If it does not,
// the watchdog arms, handles what has arrived, and ends polling mode. If all calls have only looked
// for the next frame of one peer, and found it, the watchdog handles what has arrived from others.
// The services sleep meanwhile.
//
// In a program in C the watchdog sleeps, and checks, in one call of C (Policy.Watchdog). It returns to Go only if there is
// something to do. A timer of Go wakes two threads of the runtime, and its monitor three times, each of which interrupts a
// thread that computes.
//
// Rejected: services that wake at every tick to check. That costs the callers a sixth
// of their time: when the runtime's monitor has found a goroutine in a system call, it checks
// every 20 us for some time whether there are more, with a kernel timer in between.
func (p *Proc) watchdog() {
	defer p.services.Done()
	rest := p.policy.Watchdog
	if rest == nil {
		timer := time.NewTimer(tick)
		defer timer.Stop()
		rest = func(_ *shmfmt.ProcessRecord, idle, _ time.Duration) {
			timer.Reset(idle)
			select {
			case <-timer.C:
			case <-p.stopped:
			}
		}
	}
	for {
		select {
		case <-p.modeEntered:
		case <-p.stopped:
			return
		}
		for idle, calling := tick, true; calling; idle = min(2*idle, tickMax) {
			rest(p.rec, idle, tickMax)
			if p.rec.Watch.Stop.Load() != 0 { // pairs with the store in stopWatchdog
				return
			}
			if p.rec.Mutex.TryLock() { // else a call is in progress
				calling = p.checkCalls()
				p.Unlock()
			}
		}
	}
}

// checkCalls is the check of the watchdog. It reports whether the process has called since the last one; if not, it has
// ended polling mode.
func (p *Proc) checkCalls() bool {
	w := &p.rec.Watch
	if !p.polling() && p.rec.Activity == w.SeenActivity {
		p.importQueues()
		p.setSlow(shmfmt.SlowInterrupt, true)
		if !p.arm() { // else nothing is left to do for the services, which may have to wait for a core
			p.wakeServices()
		}
		return false
	}
	if w.Polls == w.SeenPolls {
		p.importQueues()
		p.advance()
	}
	w.SeenActivity, w.SeenPolls = p.rec.Activity, w.Polls
	return true
}

// stopWatchdog ends the watchdog.
func (p *Proc) stopWatchdog() {
	p.rec.Watch.Stop.Store(1) // pairs with the loads in watchdog, and in halo_watch of abi/lib
	close(p.stopped)
	if !planted.WatchdogAsleep {
		sys.FutexWakePrivate(&p.rec.Watch.Stop, 1)
	}
}

// shareArrivals has code in C see where something may arrive.
func (p *Proc) shareArrivals() {
	w := &p.rec.Watch
	if p.rings == nil || p.node == nil {
		w.Elsewhere.Store(1)
		return
	}
	w.Peers = p.rings.Records()
	if w.Peers == nil {
		return
	}
	seg := p.node.OwnSegment()
	w.Senders, w.Words, w.Losing = seg.Senders(), uint32(seg.ActiveWords()), p.node.LosingFlag()
}
