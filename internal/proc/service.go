package proc

import (
	"runtime"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
)

const (
	// tick is how often the service of a hot process looks in. It bounds how
	// long a process that has just stopped calling answers nobody.
	tick = time.Millisecond
	// tickMax is what the tick grows to, doubling, in a process that stays hot.
	// A tick costs the core of the caller some 0.3 ms in all, because the
	// runtime, having found a goroutine in a system call, looks every 20 us for
	// some time whether there are more.
	tickMax = 16 * time.Millisecond
	// hotAfter is how many calls in a row arm before the process is taken to be hot.
	hotAfter = 32
)

// lane is a fabric with the state of its service.
type lane struct {
	fab     fabric.Fabric
	sockets bool
	// deep says that the service sleeps until something arrives: whoever
	// disarms the fabric must arm it again when it leaves.
	deep  bool
	calls int    // calls that armed since the process was last hot
	seen  uint64 // Proc.activity at the last tick
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
	p.polling, p.handed = false, false
	for _, e := range p.parked {
		if !e.done {
			p.handed = true
			e.park.unpark()
			return
		}
	}
	deep := false
	for _, l := range p.lanes {
		if !l.deep {
			continue
		}
		if l.calls++; l.calls < hotAfter {
			l.fab.Arm()
			deep = true
		} else {
			p.stir(l)
		}
	}
	if deep && p.look(-1) > 0 {
		for _, l := range p.lanes {
			p.stir(l) // there is more to do: the services see to it
		}
	}
}

// stir gets the service of a lane out of deep sleep.
func (p *Proc) stir(l *lane) {
	l.calls, l.deep = 0, false
	l.fab.Wake()
}

// arm makes peers ring, and reports false if something had arrived meanwhile.
func (p *Proc) arm() bool {
	for _, l := range p.lanes {
		l.fab.Arm()
	}
	if p.poll(-1) == 0 {
		return true
	}
	for _, l := range p.lanes {
		l.fab.Disarm()
	}
	return false
}

// serve stands in for a poller until the process is closed.
func (p *Proc) serve(l *lane) {
	defer p.services.Done()
	idle := tick
	for {
		l.fab.Sleep(idle)
		p.Lock()
		if p.closed {
			p.Unlock()
			return
		}
		p.serving++
		longer := max(tick, min(2*idle, tickMax))
		idle = tick
		switch {
		case p.polling:
			// Rung just before the poller disarmed; or a tick. It sees to all.
			l.deep, l.seen, idle = false, p.activity, longer
		case !l.deep && l.seen != p.activity && len(p.parked) == 0:
			// Hot. Look in once, so that nobody waits longer than a tick.
			l.seen, idle = p.activity, longer
			p.advance()
		default:
			p.advance()
			for !p.polling && !p.closed {
				// Nothing may come between arming, the look that finds
				// nothing, and deep: a poller let in here would disarm.
				if l.fab.Arm(); p.look(-1) == 0 {
					l.deep, idle = true, 0
					break
				}
				p.advance()
			}
		}
		p.serving--
		p.Unlock()
		// What was completed may have made goroutines runnable: they go first.
		runtime.Gosched()
	}
}

// advance polls until there is nothing to do, giving way to whoever wants the lock.
func (p *Proc) advance() {
	for !p.closed && !p.polling && p.look(-1) > 0 {
		if p.want.Load() != 0 {
			p.giveWay()
		}
	}
}
