package proc

import (
	"runtime"
	"runtime/debug"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// transport is a fabric, and whether polling it is a system call.
type transport struct {
	fab     fabric.Fabric
	sockets bool
}

// enterPoll makes the caller the poller: peers need not ring while it polls.
func (p *Proc) enterPoll() {
	p.setSlow(shmfmt.SlowPolling, true)
	p.takeoverPending = false
	p.rec.Activity++
	p.rec.Watch.Polls++
	for _, l := range p.transports {
		l.fab.Disarm()
	}
}

// leavePoll ends being the poller: a parked waiter takes over, or the services do.
func (p *Proc) leavePoll() {
	p.setSlow(shmfmt.SlowPolling, false)
	p.takeoverPending = p.wakeOne()
	if p.takeoverPending || p.pollingMode() {
		return
	}
	p.armingCalls++
	if p.armingCalls == pollingAfter {
		p.enterPollingMode()
		return
	}
	if !p.arm() {
		p.wakeServices() // there is more to do, which the services do
	}
}

// wakeServices makes the services poll.
func (p *Proc) wakeServices() {
	if p.servicesWoken {
		return
	}
	p.servicesWoken = true
	for _, l := range p.transports {
		l.fab.Wake()
	}
}

// arm makes peers ring, and polls once more. It reports false if that poll did something; then
// the fabrics are disarmed again.
func (p *Proc) arm() bool {
	for _, l := range p.transports {
		l.fab.Arm()
	}
	p.arming = true
	n := p.pollAll(-1)
	p.arming = false
	if n == 0 {
		return true
	}
	for _, l := range p.transports {
		l.fab.Disarm()
	}
	return false
}

// serve makes progress while nobody polls, until the process is closed. Invariant: whenever it
// sleeps, its fabric is armed, or there is a poller that arms when it leaves, or the process is in
// polling mode.
func (p *Proc) serve(l *transport) {
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
		p.servicesWoken = false
		p.wakeWanted()
		p.serving++
		p.advance()
		// Waiters that have been woken continue, and poll if they need to.
		for !p.closed && !p.polling() && (!p.pollingMode() || len(p.parked) > p.woken) {
			// The lock must be held from Arm to the poll that finds nothing: a poller in
			// between would disarm.
			l.fab.Arm()
			if p.pollAll(-1) == 0 {
				break
			}
			p.advance()
		}
		p.serving--
		// Goroutines that have been made runnable run first. Without any, the service does not
		// yield its P: where the program computes on all Ps, it would get one again only when the
		// runtime preempts a goroutine, after 10 ms or more. A service that sleeps in the kernel
		// keeps its P for a while, and serves frames in that time at once.
		p.noteUnmatched()
		others := p.woken > 0 || p.rec.Want.Load() > 0
		p.settle() // under the lock, since Stop may free the memory of the node after that
		p.Unlock()
		if others {
			runtime.Gosched()
		}
	}
}

// faulted is deferred by services: it reports an access to an address without memory to
// Policy.Fault.
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

// advance polls until there is nothing to do. It yields the lock to goroutines that want it.
func (p *Proc) advance() {
	for !p.closed && !p.polling() && p.pollAll(-1) > 0 {
		if p.rec.Want.Load() != 0 {
			p.yieldLock()
		}
	}
}
