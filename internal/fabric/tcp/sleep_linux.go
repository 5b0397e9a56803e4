package tcp

import (
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/sys"
)

// A sleeper is who waits in the kernel while nobody polls, and how it is told.
//
// Senders are in other processes and cannot look whether anyone here sleeps:
// the kernel wakes the sleeper for every frame if the sockets are among what it
// waits for. That is wanted only while armed. So an armed sleeper watches bell
// and sockets, and one that is not naps: it listens to the bell alone. arm
// rings the bell of a napping sleeper, which then watches; disarm leaves a
// watching one as it is: the next frame makes Sleep return early, once, and
// then it naps. Who polls often and arms in between keeps off both by leaving
// the fabric disarmed for a while (package proc does).
//
// Rejected: to change the epoll set at each arm (a system call per connection).
type sleeper struct {
	set  *sys.Epoll
	bell *sys.Bell

	armed  atomic.Bool   // stored by arm, before it loads state; loaded by sleep after it has stored state
	called atomic.Bool   // stored by wake, before it loads state; loaded by sleep after it has stored state
	closed atomic.Bool   // stored by shut, before it rings; loaded by sleep and ring
	state  atomic.Uint32 // awake, watching or napping: stored by sleep, loaded by arm and wake

	asleep sync.Mutex // held in sleep, so that close can wait until it is over
	ringer sync.Mutex // held while ringing, so that the bell is not closed meanwhile
}

const (
	awake = iota
	watching
	napping
)

func (p *sleeper) open() (err error) {
	if p.set, err = sys.NewEpoll(); err != nil {
		return err
	}
	if p.bell, err = sys.NewBell(); err != nil {
		p.set.Close()
	}
	return err
}

func (p *sleeper) arm() {
	if !p.armed.Swap(true) && p.state.Load() == napping {
		p.ring()
	}
}

func (p *sleeper) disarm() {
	if p.armed.Load() { // a store costs a fence
		p.armed.Store(false)
	}
}

func (p *sleeper) wake() {
	if !p.called.Swap(true) && p.state.Load() != awake {
		p.ring()
	}
}

func (p *sleeper) ring() {
	p.ringer.Lock()
	if !p.closed.Load() {
		p.bell.Ring()
	}
	p.ringer.Unlock()
}

// sleep is the contract's Sleep.
func (p *sleeper) sleep() {
	p.asleep.Lock()
	defer p.asleep.Unlock()
	for ready := false; !ready; {
		p.state.Store(napping)
		var set *sys.Epoll
		if p.armed.Load() {
			p.state.Store(watching) // wake rings for either
			set = p.set
		}
		if p.closed.Load() || p.called.Swap(false) {
			break
		}
		ready = p.bell.Sleep(set)
	}
	p.state.Store(awake)
}

// shut makes sleep return for good, and reports whether that was done before.
func (p *sleeper) shut() (before bool) {
	p.ringer.Lock()
	defer p.ringer.Unlock()
	if p.closed.Swap(true) {
		return true
	}
	p.bell.Ring()
	return false
}

// close releases the descriptors once nobody sleeps.
func (p *sleeper) close() error {
	p.shut()
	p.asleep.Lock()
	defer p.asleep.Unlock()
	err := p.bell.Close()
	if e := p.set.Close(); err == nil {
		err = e
	}
	return err
}
