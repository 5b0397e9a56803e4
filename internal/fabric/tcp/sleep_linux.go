package tcp

import (
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/sys"
)

// A sleeper waits in the kernel while nobody polls.
//
// Senders are in other processes and cannot see whether this process sleeps. If the sleeper
// waits for the sockets, the kernel wakes it for every frame, which is wanted only while
// armed. Therefore an armed sleeper waits for bell and sockets (watching), and a disarmed one
// waits for the bell alone (bellOnly). arm rings the bell of a bellOnly sleeper, which then
// watches. disarm does not wake a watching sleeper: the next frame makes Sleep return early,
// once, and the next Sleep waits for the bell alone. A process in polling mode leaves the
// fabric disarmed, and so avoids the cost of both (package proc).
//
// Rejected: change the epoll set at each arm, which costs a system call for each connection.
type sleeper struct {
	set  *sys.Epoll
	bell *sys.Bell

	armed  atomic.Bool   // stored by arm, before it loads state; loaded by sleep after it has stored state
	woken  atomic.Bool   // stored by wake, before it loads state; loaded by sleep after it has stored state
	closed atomic.Bool   // stored by shut, before it rings; loaded by sleep and ring
	state  atomic.Uint32 // awake, watching or bellOnly: stored by sleep, loaded by arm and wake

	sleepMu sync.Mutex // held in sleep, so that close can wait until it is over
	ringMu  sync.Mutex // held while ringing, so that the bell is not closed meanwhile
}

const (
	awake = iota
	watching
	bellOnly
)

func (p *sleeper) open() (err error) {
	p.set, err = sys.NewEpoll()
	if err != nil {
		return err
	}
	p.bell, err = sys.NewBell()
	if err != nil {
		p.set.Close()
	}
	return err
}

func (p *sleeper) arm() {
	if !p.armed.Swap(true) && p.state.Load() == bellOnly {
		p.ring()
	}
}

func (p *sleeper) disarm() {
	if p.armed.Load() { // a store costs a fence
		p.armed.Store(false)
	}
}

func (p *sleeper) wake() {
	if !p.woken.Swap(true) && p.state.Load() != awake {
		p.ring()
	}
}

func (p *sleeper) ring() {
	p.ringMu.Lock()
	if !p.closed.Load() {
		p.bell.Ring()
	}
	p.ringMu.Unlock()
}

// sleep implements Sleep of fabric.Fabric.
func (p *sleeper) sleep() {
	p.sleepMu.Lock()
	defer p.sleepMu.Unlock()
	for ready := false; !ready; {
		p.state.Store(bellOnly)
		var set *sys.Epoll
		if p.armed.Load() {
			p.state.Store(watching) // wake rings for either
			set = p.set
		}
		if p.closed.Load() || p.woken.Swap(false) {
			break
		}
		ready = p.bell.Sleep(set)
	}
	p.state.Store(awake)
}

// shut ends sleep permanently, and reports whether it was called before.
func (p *sleeper) shut() (before bool) {
	p.ringMu.Lock()
	defer p.ringMu.Unlock()
	if p.closed.Swap(true) {
		return true
	}
	p.bell.Ring()
	return false
}

// close releases the descriptors once nobody sleeps.
func (p *sleeper) close() error {
	p.shut()
	p.sleepMu.Lock()
	defer p.sleepMu.Unlock()
	err := p.bell.Close()
	if e := p.set.Close(); err == nil {
		err = e
	}
	return err
}
