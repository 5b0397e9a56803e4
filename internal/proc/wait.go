package proc

import (
	"cmp"
	"runtime"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/wire"
)

// Event is something that a goroutine can wait for: that Fire is called, or
// that a word of shared memory reaches a value (Watch). The zero Event has not
// happened. An Event is used under the engine's lock.
type Event struct {
	done  bool
	noted bool // in Proc.sleepers
	park  *park
	also  *Event

	// About tells people what is waited for; nil if nobody will ask.
	About About

	word     *atomic.Uint64 // nil unless watching
	reach    uint64
	sleepers *atomic.Uint32
}

// About describes an operation in progress, such as "Recv on world from 2 tag 7".
type About interface {
	AppendAbout(text []byte) []byte
}

// Done reports whether the event has happened.
func (e *Event) Done() bool { return e.done }

// Reset makes the event one that has not happened.
func (e *Event) Reset() { e.done = false }

// Watch makes the event one that happens when *word >= reach. Another process
// stores the word; after that it loads *sleepers, and if that is not 0 it rings
// the doors of all who may wait. The death of any process makes the event
// happen, too: who waited looks at the word.
func (e *Event) Watch(word *atomic.Uint64, reach uint64, sleepers *atomic.Uint32) {
	e.done, e.word, e.reach, e.sleepers = false, word, reach, sleepers
}

// Also makes g happen when e does; nil undoes it. It lets one goroutine wait
// for the first of several events.
func (e *Event) Also(g *Event) { e.also = g }

// Awaited reports whether somebody sleeps until the event happens, or waits for it among
// others.
func (e *Event) Awaited() bool { return e.park != nil || e.also != nil }

// Fire makes the event happen and wakes who waits for it.
func (e *Event) Fire() {
	e.done = true
	if e.park != nil {
		e.park.unpark()
	}
	if e.also != nil {
		e.also.Fire()
	}
}

// happened looks at the watched word, too.
func (e *Event) happened() bool {
	if !e.done && e.word != nil && e.word.Load() >= e.reach { // pairs with the store by who completes a collective
		e.done = true
	}
	return e.done
}

// Wait returns when e has happened. It is called with the lock held and returns
// with it held; in between others may hold it. hint is the peer from whom the
// event is expected, or -1.
func (p *Proc) Wait(e *Event, hint int) {
	for !e.happened() {
		if len(p.errands) > 0 {
			p.runErrand()
			continue
		}
		if p.polling || !p.pollFor(e, hint) {
			p.parkFor(e)
			if p.handed && e.happened() {
				// Woken to poll, and not in need of it any more: the task goes
				// on to the next, or to the services.
				p.leavePoll()
			}
		}
	}
	if len(p.errands) > 0 {
		p.wakeOne() // woken to do them, or while it polled, and not here any more
	}
	if e.noted {
		p.wakeUp(e)
	}
}

// pollFor polls until e has happened, or there is an errand, and reports true; or until it
// is time to park, and reports false with the fabrics armed.
func (p *Proc) pollFor(e *Event, hint int) bool {
	p.enterPoll()
	p.polled = e
	loads, yields := p.policy.Loads, p.policy.Yields
	if e.word != nil {
		loads, yields = p.policy.WordLoads, cmp.Or(p.policy.WordYields, yields)
	}
	for spins := 0; !e.happened() && len(p.errands) == 0; {
		var n int
		if spins <= loads {
			n = p.poll(hint)
		} else {
			n = p.look(hint)
		}
		if n > 0 {
			spins = 0
			continue
		}
		if p.want.Load() != 0 {
			p.giveWay()
			continue
		}
		spins++
		if spins <= loads {
			if p.woken > 0 || p.line.expects(spins) {
				p.giveWay() // what they do next can go and come with the rest
			}
			continue
		}
		if spins <= loads+yields {
			if spins%goschedEvery == 0 {
				p.giveWay()
			} else {
				p.policy.Yield()
			}
			continue
		}
		if p.arm() && len(p.errands) == 0 {
			p.polling, p.polled = false, nil
			p.noteParked()
			p.fallAsleep(e)
			return false
		}
		spins = 0
	}
	p.polled = nil
	p.leavePoll()
	return true
}

// goschedEvery is after how many yields to other processes the poller also
// yields to other goroutines of its own.
const goschedEvery = 16

// parkFor sleeps until e happens, or until this goroutine is to take over polling.
func (p *Proc) parkFor(e *Event) {
	if e.word != nil {
		// Armed before, look at the word after: whoever stores the word and then
		// loads 0 sleepers did so before our look.
		e.sleepers.Add(1)
		defer e.sleepers.Add(^uint32(0))
		if e.happened() {
			return
		}
		p.watched++
	}
	k := p.newPark()
	e.park = k
	p.parked = append(p.parked, e)
	p.tellParked()
	k.sleep()
	e.park = nil
	for i, o := range p.parked {
		if o == e {
			last := len(p.parked) - 1
			p.parked[i], p.parked[last] = p.parked[last], nil
			p.parked = p.parked[:last]
			p.tellParked()
			break
		}
	}
	if e.word != nil {
		p.watched--
	}
	p.freePark(k)
}

// tellParked tells peers in memory how many are parked.
func (p *Proc) tellParked() {
	if p.node != nil {
		p.node.SetWaits(len(p.parked))
	}
}

// rouse has a parked waiter poll, if a peer wants one to.
func (p *Proc) rouse() {
	if p.node == nil || !p.node.WaiterWanted() || p.polling {
		return
	}
	if p.wakeOne() {
		p.handed = true
	}
}

// wakeOne wakes a parked waiter whose event has not happened, if there is one.
func (p *Proc) wakeOne() bool {
	for _, e := range p.parked {
		if !e.done {
			e.park.unpark()
			return true
		}
	}
	return false
}

// Woken reports whether somebody whose event has happened has been woken and has not
// gone on yet.
func (p *Proc) Woken() bool { return p.woken > 0 }

// Polling reports whether somebody polls who goes on until his event has happened, or hands
// over to another who waits: no service, and nobody who is about to sleep.
func (p *Proc) Polling() bool { return p.polling && !p.arming }

// Progress polls once, for calls that test, and does the errands that there are.
func (p *Proc) Progress(hint int) {
	p.progress(hint)
	for n := len(p.errands); n > 0 && len(p.errands) > 0; n-- {
		p.runErrand()
	}
}

// progress polls once.
func (p *Proc) progress(hint int) {
	if p.polling {
		p.giveWay() // the poller is at work; let it
		return
	}
	p.enterPoll()
	if p.poll(hint) == 0 && p.want.Load() != 0 {
		p.giveWay()
	}
	p.leavePoll()
}

// look is a poll that passes nothing over. It must be one after arming: what had
// come before rings for nobody. And who has given the core away need not save calls.
func (p *Proc) look(hint int) int {
	p.turns |= socketTurns - 1 // the next one looks at sockets
	return p.poll(hint)
}

// poll looks at everything but, most times, sockets, and reports how much it did.
func (p *Proc) poll(hint int) int {
	n := 0
	if p.node != nil {
		n = p.node.Poll(p.sink, hint)
	}
	p.turns++
	for _, l := range p.lanes {
		// Looking at sockets is a system call: every turn only when a frame
		// from there is awaited, or when there is nothing else.
		if l.sockets && (p.node == nil || p.turns%socketTurns == 0 || hint >= 0 && !p.peers[hint].near) {
			n += l.fab.Poll(p.sink, hint)
		}
	}
	if p.turns%noteTurns == 0 {
		p.noteParked()
	}
	if len(p.backlogs) > 0 {
		n += p.flush()
	}
	if p.busy > 0 {
		for _, w := range p.work {
			n += w.Work()
		}
	}
	if p.watched > 0 {
		for _, e := range p.parked {
			if e.word != nil && e.happened() {
				e.park.unpark()
			}
		}
	}
	return n
}

// Glance waits a moment for the next frame of a peer in memory and returns it in
// place, nil if there is none soon, or when whoever polls has more to look after
// than that: other waiters, work, peers that must be rung for. It stands in for
// everything that a wait costs beside the way of the line, and every few times it
// gives up, so that nothing else is forgotten. Took takes the frame; without it
// the next poll delivers it.
func (p *Proc) Glance(from int) (*wire.Header, []byte) {
	if p.turns%socketTurns == socketTurns-1 || !p.peers[from].near ||
		!p.hot || p.polling || len(p.parked) != 0 || p.busy != 0 || len(p.backlogs) != 0 || len(p.errands) != 0 {
		return nil, nil
	}
	p.turns++
	p.activity++
	p.node.Disarm()
	return p.node.Peek(from, min(glances, p.policy.Loads), &p.want)
}

// Took takes the frame that Glance has just returned.
func (p *Proc) Took() { p.node.Consume() }

const (
	// glances is how often Glance looks at most, with a fence or a pause of the
	// processor in between: from half a microsecond to five, depending on it.
	glances = 128
	// noteTurns is after how many polls those that are parked while others poll are
	// noted: tenths of a millisecond to a few.
	noteTurns = 64 * socketTurns
	// socketTurns is how many polls of memory, and glances, go with one poll of
	// everything, sockets included, when nothing is awaited from there.
	socketTurns = 64
)

// Yield gives the core to another process that wants it. Callable without the lock.
func (p *Proc) Yield() { p.policy.Yield() }

// Pause gives other goroutines and processes a chance, in a loop that tests. The
// lock is free meanwhile.
func (p *Proc) Pause() {
	p.Unlock()
	p.policy.Yield()
	if !p.policy.Threads {
		runtime.Gosched()
	}
	p.Lock()
}
