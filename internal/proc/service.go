package proc

import (
	"runtime"
	"time"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

const (
	// tick is how often the service of a hot process looks in. Two ticks bound
	// how long a process that has just stopped calling answers nobody.
	tick = time.Millisecond
	// tickMax is what the tick grows to, doubling, in a process that stays hot.
	tickMax = 8 * time.Millisecond
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
	// alarm and nudge end the sleep between two ticks.
	alarm *time.Timer
	nudge chan struct{} // capacity 1
}

func newLane(f fabric.Fabric, sockets bool) *lane {
	return &lane{fab: f, sockets: sockets, nudge: make(chan struct{}, 1)}
}

// rest sleeps for one tick and reports true, or false if it was roused. The runtime's own timer is
// the cheap way: a goroutine that sleeps in a system call has it look every 20 us
// for some time whether there are more, which costs the caller's core 0.3 ms.
func (l *lane) rest(tick time.Duration) bool {
	if l.alarm == nil {
		l.alarm = time.NewTimer(tick)
	} else {
		l.alarm.Reset(tick)
	}
	select {
	case <-l.alarm.C:
		return true
	case <-l.nudge:
		l.alarm.Stop()
		return false
	}
}

// rouse ends rest.
func (l *lane) rouse() {
	select {
	case l.nudge <- struct{}{}:
	default:
	}
}

// enterPoll makes the caller the poller: peers need not ring while it looks.
func (p *Proc) enterPoll() {
	p.polling, p.handed = true, false
	p.active()
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
	if deep && p.poll(-1) > 0 {
		for _, l := range p.lanes {
			p.stir(l) // there is more to do: the services see to it
		}
	}
}

// active counts a call that polls.
func (p *Proc) active() {
	shmfmt.Publish(&p.activity, p.activity.Load()+1) // pairs with the load in serve; only who has the lock stores
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
		for _, l := range p.lanes {
			if !l.deep {
				l.rouse() // the caller is about to park: somebody must hear the bell
			}
		}
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
	idle := tick // 0 if deep
	for {
		if idle == 0 {
			l.fab.Sleep(0)
		} else if l.rest(idle) {
			// Hot as long as calls poll: they see to everything.
			if now := p.activity.Load(); now != l.seen { // pairs with the store in active
				l.seen, idle = now, min(2*idle, tickMax)
				continue
			}
		}
		p.Lock()
		if p.closed {
			p.Unlock()
			return
		}
		longer := max(tick, min(2*idle, tickMax))
		idle = tick
		switch {
		case p.polling:
			// Rung just before the poller disarmed. It sees to all.
			l.deep, l.seen, idle = false, p.activity.Load(), longer
		case !l.deep && l.seen != p.activity.Load() && len(p.parked) == 0:
			// Hot since now (stir). Look in once: nobody shall wait for a tick.
			l.seen, idle = p.activity.Load(), longer
			p.advance()
		default:
			p.advance()
			for !p.polling && !p.closed {
				// Nothing may come between arming, the look that finds
				// nothing, and deep: a poller let in here would disarm.
				if l.fab.Arm(); p.poll(-1) == 0 {
					l.deep, idle = true, 0
					break
				}
				p.advance()
			}
		}
		p.Unlock()
		// What was completed may have made goroutines runnable: they go first.
		runtime.Gosched()
	}
}

// advance polls until there is nothing to do, giving way to whoever wants the lock.
func (p *Proc) advance() {
	for !p.closed && !p.polling && p.poll(-1) > 0 {
		if p.want.Load() != 0 {
			p.giveWay()
		}
	}
}
