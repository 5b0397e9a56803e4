package proc

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
)

const (
	// tick is how long a hot process may make no call until it is taken to have
	// stopped. The last call may have come just after the watch looked, so for up
	// to two ticks a process that has stopped calling answers nobody.
	tick = time.Millisecond
	// tickMax is what the tick grows to, doubling, in a process that stays hot.
	tickMax = 8 * time.Millisecond
	// hotAfter is how many calls in a row arm before the process is taken to be hot.
	hotAfter = 32
)

// lane is a fabric and what polls need to know of it.
type lane struct {
	fab     fabric.Fabric
	sockets bool
}

// enterPoll makes the caller the poller: peers need not ring while it looks.
func (p *Proc) enterPoll() {
	p.polling, p.handed = true, false
	p.activity++
	for _, l := range p.lanes {
		l.fab.Disarm()
	}
}

// leavePoll ends being the poller: hands over to a parked waiter, or leaves the
// watch to the services.
func (p *Proc) leavePoll() {
	p.polling = false
	if p.handed = p.wakeOne(); p.handed || p.hot {
		return
	}
	if p.calls++; p.calls == hotAfter {
		p.heat()
		return
	}
	if !p.arm() {
		p.stir() // there is more to do: the services see to it
	}
}

// stir makes the services look.
func (p *Proc) stir() {
	if p.stirred {
		return
	}
	p.stirred = true
	for _, l := range p.lanes {
		l.fab.Wake()
	}
}

// arm makes peers ring, and reports false if something had arrived meanwhile.
func (p *Proc) arm() bool {
	for _, l := range p.lanes {
		l.fab.Arm()
	}
	p.arming = true
	n := p.look(-1)
	p.arming = false
	if n == 0 {
		return true
	}
	for _, l := range p.lanes {
		l.fab.Disarm()
	}
	return false
}

// serve stands in for a poller until the process is closed. Whenever it sleeps,
// its fabric is armed, or a poller is at work that arms when it leaves, or the
// process is hot.
func (p *Proc) serve(l *lane) {
	defer p.services.Done()
	if p.policy.Fault != nil {
		debug.SetPanicOnFault(true)
		defer p.faulted()
	}
	for ; ; l.fab.Sleep() {
		p.Lock()
		if p.closed {
			p.Unlock()
			return
		}
		p.stirred = false
		p.rouse()
		p.serving++
		p.advance()
		// Those who have been woken go on, and poll if they have to.
		for !p.closed && !p.polling && (!p.hot || len(p.parked) > p.woken) {
			// Nothing may come between arming and the look that finds nothing: a
			// poller let in here would disarm.
			if l.fab.Arm(); p.look(-1) == 0 {
				break
			}
			p.advance()
		}
		p.serving--
		// Goroutines that have been made runnable go first. If there are none, the core is
		// not given away: where the program computes on all of them, to get one again takes
		// until the runtime preempts one that computes, 10 ms and more. Who sleeps in the
		// kernel keeps his for a while, and serves what comes meanwhile at once.
		others := p.woken > 0 || p.want.Load() > 0
		p.Unlock()
		if others {
			runtime.Gosched()
		}
	}
}

// faulted is deferred by services: it tells of an access to an address without memory.
func (p *Proc) faulted() {
	r := recover()
	if r == nil {
		return
	}
	if e, ok := r.(runtime.Error); ok {
		if at, ok := e.(interface{ Addr() uintptr }); ok {
			p.policy.Fault(at.Addr())
		}
	}
	panic(r)
}

// advance polls until there is nothing to do, giving way to whoever wants the lock.
func (p *Proc) advance() {
	for !p.closed && !p.polling && p.look(-1) > 0 {
		if p.want.Load() != 0 {
			p.giveWay()
		}
	}
}

// heat makes the process hot: calls do not arm any more, until the watch finds
// that there are none.
func (p *Proc) heat() {
	p.hot, p.calls, p.heatedAt = true, 0, p.activity
	p.heated <- struct{}{} // has room: the watch took the last before it ended the heat
}

// watch looks after each tick whether a hot process still calls, and if it does
// not, does what has come and sends its services into deep sleep. They sleep
// meanwhile as ever. To wake them for this, at every tick, costs the callers a
// sixth of their time: the runtime, having found a goroutine in a system call,
// looks every 20 us for some time whether there are more, and goes to sleep with a
// timer of the kernel in between.
func (p *Proc) watch(timer *time.Timer) {
	defer p.services.Done()
	defer timer.Stop()
	for {
		select {
		case <-p.heated:
		case <-p.stopped:
			return
		}
		seen, idle := p.heatedAt, tick // nobody else stores it until this loop ends the heat
		for hot := true; hot; {
			timer.Reset(idle)
			select {
			case <-timer.C:
			case <-p.stopped:
				return
			}
			idle = min(2*idle, tickMax)
			if p.mu.TryLock() { // else somebody is at it
				hot = p.polling || p.activity != seen
				seen = p.activity
				if !hot {
					p.hot = false
					if !p.arm() { // else what had come is done: the services may have to wait for a core
						p.stir()
					}
				}
				p.Unlock()
			}
		}
	}
}
