package proc

import (
	"cmp"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/wire"
)

// Event is something that a goroutine can wait for: that Fire is called, or
// that a word of shared memory reaches a value (Watch). The zero Event has not
// happened. An Event is used under the engine's lock.
type Event struct {
	done  bool
	noted bool // in Proc.sleepers
	apart bool // in WaitApart
	yield bool // see YieldOften
	park  *park
	also  *Event

	// About describes, for people, what the waiter waits for; may be nil.
	About About

	word     *atomic.Uint64 // nil unless watching
	reach    uint64
	sleepers *atomic.Uint32
	alarm    *atomic.Uint64 // nil if only word counts
	before   uint64
}

// About describes an operation in progress, such as "Recv on world from 2 tag 7".
type About interface {
	AppendAbout(text []byte) []byte
}

// Awaiter is an About that knows who ends the wait: it returns the local number of a process, or AwaitsAny or
// AwaitsUnknown of package shmfmt. The wait of another About is AwaitsUnknown.
type Awaiter interface{ Awaits() int32 }

// Leaver is an About that is told when a thread leaves the call that waits for it: see Policy.Leave. The lock is held.
type Leaver interface{ Left() }

// Done reports whether the event has happened.
func (e *Event) Done() bool { return e.done }

// Reset returns the event to the state in which it has not happened.
func (e *Event) Reset() { e.done = false }

// Watch makes the event happen when *word >= reach. Another process stores the
// word; after that it loads *sleepers, and if that is not 0 it rings the doorbells of all
// processes that may wait. The failure of any process makes the event happen too, so the
// waiter loads the word again.
func (e *Event) Watch(word *atomic.Uint64, reach uint64, sleepers *atomic.Uint32) {
	e.done, e.word, e.reach, e.sleepers, e.alarm = false, word, reach, sleepers, nil
}

// Alarm makes an event that watches a word also happen when *alarm is no longer before. Another
// process stores alarm as it stores the word.
func (e *Event) Alarm(alarm *atomic.Uint64, before uint64) { e.alarm, e.before = alarm, before }

// YieldOften says whether the event needs threads, of this process or a peer, for which there may
// not be enough cores. Who polls for such an event yields the core every few polls, also while the
// policy allows polls without yields because each process has a core.
func (e *Event) YieldOften(yes bool) { e.yield = yes }

// Also makes g happen when e does; nil undoes it. It lets one goroutine wait
// for the first of several events.
func (e *Event) Also(g *Event) {
	e.also = g
	if e.yield && g != nil {
		g.yield = true
	}
}

// Awaited reports whether a goroutine sleeps until the event happens, or waits for several
// events of which it is one.
func (e *Event) Awaited() bool { return e.park != nil || e.also != nil }

// Fire makes the event happen and wakes its waiter.
func (e *Event) Fire() {
	e.done = true
	if e.park != nil || e.also != nil {
		e.fireWaiters()
	}
}

// fireWaiters is the part of Fire for events that are awaited: without it Fire inlines.
func (e *Event) fireWaiters() {
	if e.park != nil {
		e.park.unpark()
	}
	if e.also != nil {
		e.also.Fire()
	}
}

// happened reports whether the event has happened; it also loads the watched word.
func (e *Event) happened() bool {
	if !e.done && e.word != nil && (e.word.Load() >= e.reach || e.alarm != nil && e.alarm.Load() != e.before) { // pairs with the store by the process that completes a collective
		e.done = true
	}
	return e.done
}

// Wait returns when e has happened. It is called with the lock held and returns
// with it held; in between others may hold it. hint is the peer from whom the
// event is expected, or -1.
func (p *Proc) Wait(e *Event, hint int) {
	for !e.happened() {
		if p.policy.leaving() {
			p.letLeave(e)
		}
		if len(p.tasks) > 0 {
			p.runTask()
			continue
		}
		if p.polling() || !p.pollFor(e, hint) {
			p.parkFor(e)
			if p.takeoverPending && e.happened() {
				// Woken to take over as the poller, but its own event has happened:
				// the next waiter or the services take over.
				p.leavePoll()
			}
		}
	}
	if len(p.tasks) > 0 {
		p.wakeOne() // this goroutine leaves, so another waiter must run the tasks
	}
	if e.noted {
		p.noteWake(e)
	}
}

// letLeave lets the calling thread leave its call, if it wants to. Then e stays what the operation in progress
// makes happen, and nobody waits for it.
func (p *Proc) letLeave(e *Event) {
	if p.takeoverPending {
		p.leavePoll()
	}
	if len(p.tasks) > 0 {
		p.wakeOne()
	}
	if e.noted {
		p.noteWake(e)
	}
	// It is asked once: the wish may come at any instruction, and a thread must not leave before Left is called.
	leaves := p.policy.Leave(false)
	if l, ok := e.About.(Leaver); ok && leaves {
		l.Left()
	}
	p.Unlock()
	if leaves {
		p.policy.Leave(true)
	}
	p.Lock()
}

// WaitApart is Wait of a goroutine that is none of the program's: it runs no tasks, and never becomes the
// poller. It sleeps until a poller, or a service, finds that e has happened: in polling mode up to two ticks later.
func (p *Proc) WaitApart(e *Event) {
	e.apart = true
	for !e.happened() {
		if !p.polling() && !p.arm() {
			continue // what the poll has found may be the event
		}
		p.noteSleep(e)
		p.parkFor(e)
	}
	if e.noted {
		p.noteWake(e)
	}
	e.apart = false
}

// pollFor polls until e has happened or there is a task, and reports true; or until it is time
// to park, and reports false with the fabrics armed.
func (p *Proc) pollFor(e *Event, hint int) bool {
	p.enterPoll()
	p.pollerEvent = e
	first, yields := p.policy.Loads, p.policy.Yields
	if e.word != nil {
		first, yields = p.policy.WordLoads, cmp.Or(p.policy.WordYields, yields)
	}
	more := LongerEvery
	if p.overSockets(hint) {
		first, more = first/socketPolls, more/socketPolls
	}
	loads, on := first, Spell{}
	for spins := 0; !e.happened() && len(p.tasks) == 0; {
		var n int
		if spins <= loads {
			n = p.poll(hint)
		} else {
			n = p.pollAll(hint)
		}
		if n > 0 {
			spins, loads, on = 0, first, Spell{}
			continue
		}
		if p.rec.Want.Load() != 0 {
			p.yieldLock()
			continue
		}
		spins++
		if spins > loads && !p.policy.leaving() && p.pollsOn(&on) {
			loads += more
		}
		if spins <= loads {
			switch {
			case p.woken > 0:
				p.yieldLock() // frames of other goroutines can then be sent together
			case spins%yieldEvery != 0:
			case p.threads.yieldsLeft > 0:
				p.threads.yieldsLeft--
				if p.lasts(p.yieldLock) {
					p.threads.yieldsLeft /= 2
				}
			case e.yield && p.policy.Often && !p.core.Lost(time.Now()) && !planted.CoreKept:
				if p.lasts(p.policy.Yield) {
					p.core.Lose(time.Now())
				}
			}
			continue
		}
		if p.policy.leaving() {
			break
		}
		if spins <= loads+yields {
			if spins%goschedEvery == 0 {
				p.balance()
				p.yieldLock()
			} else {
				p.policy.Yield()
			}
			continue
		}
		if p.arm() && len(p.tasks) == 0 {
			p.setSlow(shmfmt.SlowPolling, false)
			p.pollerEvent = nil
			p.noteParked()
			p.noteSleep(e)
			p.noteUnmatched()
			return false
		}
		spins, loads, on = 0, first, Spell{}
	}
	p.pollerEvent = nil
	p.leavePoll()
	return true
}

// goschedEvery is after how many yields to other processes the poller also yields to
// goroutines of its own process.
const goschedEvery = 16

// balance moves the thread to another core if too many processes of the node are on this one.
func (p *Proc) balance() {
	if p.node != nil {
		p.node.Balance()
	}
}

// parkFor sleeps until e happens, or until this goroutine is to take over polling.
func (p *Proc) parkFor(e *Event) {
	if e.word != nil {
		// Increment sleepers first and load the word after: a process that stores the word
		// and then loads 0 sleepers has stored the word before this load.
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
	p.publishParked()
	k.sleep()
	p.balance()
	e.park = nil
	for i, o := range p.parked {
		if o == e {
			last := len(p.parked) - 1
			p.parked[i], p.parked[last] = p.parked[last], nil
			p.parked = p.parked[:last]
			p.publishParked()
			break
		}
	}
	if e.word != nil {
		p.watched--
	}
	p.freePark(k)
}

// publishParked tells peers in memory how many waiters are parked, and receives that there are some.
func (p *Proc) publishParked() {
	p.setSlow(shmfmt.SlowParked, len(p.parked) > 0)
	if p.node != nil {
		p.node.SetWaits(len(p.parked))
	}
}

// wakeWanted wakes a parked waiter to poll, if a peer wants one to.
func (p *Proc) wakeWanted() {
	if p.node == nil || !p.node.WaiterWanted() || p.polling() {
		return
	}
	if p.wakeOne() {
		p.takeoverPending = true
	}
}

// wakeOne wakes a parked waiter whose event has not happened, if there is one that polls and runs tasks.
func (p *Proc) wakeOne() bool {
	for _, e := range p.parked {
		if !e.done && (!e.apart || planted.ApartAsked) {
			e.park.unpark()
			return true
		}
	}
	return false
}

// Woken reports whether a waiter has been woken and does not run yet.
func (p *Proc) Woken() bool { return p.woken > 0 }

// Polling reports whether there is a poller that continues until its event has happened, or that
// hands over to another waiter: it is neither a service nor about to sleep.
func (p *Proc) Polling() bool { return p.polling() && !p.arming }

// Peek waits a short time for the next frame of a peer in memory, and returns it in place. It
// returns nil if none arrives, or if a poller has anything else to do: other waiters, work, send
// queues, tasks, interrupt mode; or if receives are posted or messages unexpected. It costs little
// more than the transfer of the cache line. It returns nil once every SocketTurns calls, so that a
// full poll follows. Consume consumes the frame; otherwise the next poll delivers it.
func (p *Proc) Peek(from int) (*wire.Header, []byte) {
	if p.rec.Slow != 0 || p.rec.Turns%SocketTurns == SocketTurns-1 || !p.ThroughRings(from) {
		return nil, nil
	}
	p.rec.Turns++
	p.rec.Activity++
	p.rings.Doorbell.Disarm()
	return p.rings.Peek(from, int(p.rec.Looks), &p.rec.Want)
}

// Consume consumes the frame that Peek has just returned.
func (p *Proc) Consume() { p.rings.Consume() }

const (
	// peekMax is how many times Peek polls at most, with a fence or a pause of the
	// processor in between: half a microsecond to five, depending on the processor.
	peekMax = 128
	// quietMax is how many times a receive in C looks while nothing else arrives: 10 to 40 us, less than what a waiter
	// of OwnCore polls beside strangers.
	quietMax = 1024
	// noteTurns is after how many polls the waits that are parked while others poll are
	// noted: tenths of a millisecond to a few.
	noteTurns = 64 * SocketTurns
	// SocketTurns is how many polls of memory, and peeks, there are for one poll of
	// everything, sockets included, when nothing is awaited from sockets.
	SocketTurns = 64
)

// Yield yields the core to other processes. Callable without the lock.
func (p *Proc) Yield() { p.policy.Yield() }

// Pause lets other goroutines and processes run, in a loop that tests. The lock is free
// meanwhile.
func (p *Proc) Pause() {
	p.Unlock()
	p.policy.Yield()
	if !p.policy.Threads {
		runtime.Gosched()
	}
	p.Lock()
}
