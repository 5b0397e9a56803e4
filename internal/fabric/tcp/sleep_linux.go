package tcp

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/sys"
)

// A sleeper is who waits in the kernel while nobody polls, and how it is told.
//
// Senders are in other processes and cannot look whether anyone here sleeps:
// the kernel wakes the sleeper for every frame if its sockets are among what it
// waits for. That is wanted only while armed. But arm and disarm come with
// every blocking call of the program, so they must not cost a system call, and
// a thread that is in the kernel can be reached in no other way. Therefore:
//
//   - Armed, the sleeper watches bell and sockets (watching).
//   - Woken by a socket while not armed, somebody else polls: it naps, that is
//     it listens to the bell alone, for napTime, and looks again.
//   - arm rings the bell of a napping sleeper only after a long poll, such as
//     precedes parking. After a short one, as in a fast exchange of messages,
//     the nap runs out by itself: arm may take effect up to napTime late.
//
// So an exchange of messages costs one wake-up in napTime, not one per message.
// Rejected: changing the epoll set at each arm (a system call per connection),
// a bell at each arm (a system call and two wake-ups per message).
type sleeper struct {
	set  *sys.Epoll
	bell *sys.Bell

	armed  atomic.Bool   // set by arm, before it loads state; loaded by sleep after it has stored state
	called atomic.Bool   // set by wake, before it loads state; loaded by sleep after it has stored state
	state  atomic.Uint32 // awake, watching or napping: stored by sleep, loaded by arm and wake
	closed atomic.Bool   // set by shut, before it rings; loaded by sleep after it has stored state

	polls int // turns since disarm; under the engine's lock

	asleep sync.Mutex // held in sleep, so that close can wait until it is over
	ringer sync.Mutex // held while ringing, so that the bell is not closed meanwhile
}

const (
	awake = iota
	watching
	napping
)

const (
	// napTime bounds how late arm takes effect: long beside a wake-up (5 us),
	// short beside what a program notices.
	napTime = time.Millisecond
	// longPoll is how many turns of polling make a ring of the bell (2 us) small beside them.
	longPoll = 100
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
	p.armed.Store(true)
	if p.polls > longPoll && p.state.Load() == napping {
		p.ring()
	}
}

func (p *sleeper) disarm() {
	p.armed.Store(false)
	p.polls = 0
}

func (p *sleeper) wake() {
	p.called.Store(true)
	if p.state.Load() != awake {
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
func (p *sleeper) sleep(idle time.Duration) {
	p.asleep.Lock()
	defer p.asleep.Unlock()
	var end time.Time
	if idle > 0 {
		end = time.Now().Add(idle)
	}
	nap := false
	for {
		state, set, limit := uint32(watching), p.set, time.Duration(0)
		if nap {
			state, set, limit = napping, nil, napTime
		}
		p.state.Store(state)
		if nap && p.armed.Load() {
			nap = false // armed before it could see the nap
			continue
		}
		if p.closed.Load() || p.called.Swap(false) {
			break
		}
		if idle > 0 {
			left := time.Until(end)
			if left <= 0 {
				break
			}
			if limit == 0 || left < limit {
				limit = left
			}
		}
		_, ready := p.bell.Sleep(set, limit)
		nap = ready && !p.armed.Load()
		if ready && !nap {
			break
		}
	}
	p.state.Store(awake)
}

// shut makes sleep return for good, and reports whether that was done before.
func (p *sleeper) shut() (before bool) {
	if p.closed.Load() {
		return true
	}
	p.ringer.Lock()
	p.closed.Store(true)
	p.bell.Ring()
	p.ringer.Unlock()
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
