package shmfmt

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

// Lock is the passive lock of a window at one target, shared or exclusive, in shared memory. Its
// claimants are the n processes of the node, each for itself, and number n: the target's service,
// for all origins on other nodes.
//
// It is Lamport's bakery algorithm with announcements. To claim the lock a claimant sets its bit,
// draws a ticket, and writes ticket and mode to its own line. It holds the lock when no older claim
// conflicts with its own. So conflicting claims hold it in the order of their tickets, and no
// claimant starves. A bit without a claim belongs to a claimant that is drawing a ticket, perhaps
// an older one, or that is leaving: the others wait until it has done so. To release the lock a
// claimant retracts its claim and its bit.
//
// The lock is not handed over, so the death of a claimant blocks nobody: the others ignore its
// claim once they know of the death, and who learns of it wakes those that can hold the lock now. A
// claim without claimTrying belongs to a holder. The next holder that removes such a claim of a dead
// process reports the death (ReapDead).
//
// A claimant announces in its claim that it goes to sleep, looks once more, and sleeps until Moves
// changes. A later release changes Moves and rings the sleepers that can hold the lock now: one
// exclusive claimant, or the readers that are next. A claimant that publishes its claim rings those
// that have found only its bit (claimStalled).
//
// The lock may also be one of ranges: all claims are made by ClaimRange then, and only those conflict that
// have a number in common. A claimant writes its range before its claim, so that one who reads claim,
// range and the same claim again has the range of that claim.
//
// Rejected: a mutex with a queue in memory, since a death in the middle of a change leaves a broken
// queue; and one word of counts, since it does not say who held the lock.
//
// Steps are methods of their own, so that tests can interleave them and end a claimant after each
// step.
type Lock struct {
	head  *lockHead
	bits  []atomic.Uint64 // of claimants
	lines []windowLine    // by claimant
}

// lockHead is followed by the bits, in the same line if they are few.
type lockHead struct {
	next   atomic.Uint64 // counts tickets
	moves  atomic.Uint64 // counts changes for which a claimant was woken
	orphan atomic.Uint64 // 1 + rank of an origin on another node that died as the holder, 0 if none
}

const lockBits = int64(unsafe.Sizeof(lockHead{}))

func lockHeadSize(n int) int64 { return roundLine(lockBits + 8*int64((n+1+63)/64)) }

func newLock(mem []byte, n int) Lock {
	at := lockHeadSize(n)
	return Lock{
		head:  (*lockHead)(unsafe.Pointer(&mem[0])),
		bits:  unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[lockBits])), (n+1+63)/64),
		lines: unsafe.Slice((*windowLine)(unsafe.Pointer(&mem[at])), n+1),
	}
}

// A claim is a ticket and these bits; 0 is none.
const (
	claimExclusive = 1 << iota
	claimTrying    // does not hold the lock yet
	claimAsleep    // must be rung when a release lets it hold the lock
	claimStalled   // must be rung when another claim is published
	claimTicket    = 1 << iota
)

// LockState is what a claimant finds.
type LockState int

// The states, in the order of what the claimant must be rung for.
const (
	// LockFree says that the claimant can hold the lock.
	LockFree LockState = iota
	// LockTaken says that an older claim conflicts.
	LockTaken
	// LockUnclear says that another claimant is drawing a ticket, perhaps an older one.
	LockUnclear
)

// Dead is the set of local processes that this process knows to be dead. Add and Has may be called
// at the same time.
type Dead []atomic.Uint64

// NewDead returns an empty set for n local processes.
func NewDead(n int) Dead { return make(Dead, (n+63)/64) }

// Add adds process i.
func (d Dead) Add(i int) { d[i/64].Or(1 << (i % 64)) }

// Has reports whether process i is in the set.
func (d Dead) Has(i int) bool { return d.word(i/64)&(1<<(i%64)) != 0 }

func (d Dead) word(w int) uint64 {
	if w >= len(d) {
		return 0
	}
	return d[w].Load()
}

func (l *Lock) line(i int) *windowLine { return &l.lines[i] }

// Service returns the number of the claimant for the origins on other nodes.
func (l *Lock) Service() int { return len(l.lines) - 1 }

// Claim makes a claim for claimant i, which has none. ring wakes a claimant.
func (l *Lock) Claim(i int, exclusive bool, ring func(claimant int)) {
	l.announce(i)
	l.publish(i, l.draw(), exclusive)
	if l.crowded(i) {
		l.unstall(i, ring)
	}
}

// ClaimRange makes a claim for claimant i to the numbers [first, end), of which there is at least one.
func (l *Lock) ClaimRange(i int, exclusive bool, first, end uint64, ring func(claimant int)) {
	l.setRange(i, first, end)
	l.Claim(i, exclusive, ring)
}

func (l *Lock) setRange(i int, first, end uint64) {
	line := l.line(i)
	line.first.Store(first)
	line.end.Store(end) // pairs with the load in apart, after that of a later claim
}

func (l *Lock) announce(i int) { l.bits[i/64].Or(1 << (i % 64)) }

func (l *Lock) draw() (ticket uint64) { return l.head.next.Add(1) }

// publish is a full fence: of two claimants that publish and then look, at least one sees the claim
// of the other.
func (l *Lock) publish(i int, ticket uint64, exclusive bool) {
	c := ticket*claimTicket | claimTrying
	if exclusive && !planted.LockShared {
		c |= claimExclusive
	}
	l.line(i).claim.Store(c)
}

// crowded reports whether claimants other than i have set their bits.
func (l *Lock) crowded(i int) bool {
	for w := range l.bits {
		b := l.bits[w].Load()
		if w == i/64 {
			b &^= 1 << (i % 64)
		}
		if b != 0 {
			return true
		}
	}
	return false
}

// unstall rings the claimants that wait until the claim of i is published.
func (l *Lock) unstall(i int, ring func(claimant int)) {
	moved := false
	for w := range l.bits {
		for b := l.bits[w].Load(); b != 0; b &= b - 1 {
			o := w*64 + bits.TrailingZeros64(b)
			if o == i || o >= len(l.lines) || l.line(o).claim.Load()&claimStalled == 0 { // pairs with the store in AnnounceSleep
				continue
			}
			if !moved {
				moved = true
				l.head.moves.Add(1)
			}
			ring(o)
		}
	}
}

// Look reports whether claimant i can hold the lock. Claims of the dead do not count.
func (l *Lock) Look(i int, dead Dead) LockState {
	state, own := LockFree, l.line(i).claim.Load()
	for w := range l.bits {
		b := l.bits[w].Load() // pairs with announce
		if w == i/64 {
			b &^= 1 << (i % 64)
		}
		b &^= dead.word(w)
		for ; b != 0; b &= b - 1 {
			o := w*64 + bits.TrailingZeros64(b)
			if o >= len(l.lines) {
				break // no claimant has this bit
			}
			c := l.line(o).claim.Load() // pairs with the stores in publish and leave
			switch {
			case c == 0:
				if l.bits[w].Load()&(1<<(o%64)) != 0 && !planted.DrawerPassed {
					state = LockUnclear
				}
			case l.conflicts(i, own, o, c) && !(planted.LockTwice && c&claimTrying == 0):
				return LockTaken
			}
		}
	}
	return state
}

// conflicts reports whether claim c of claimant o is before the claim own of claimant i and excludes it.
func (l *Lock) conflicts(i int, own uint64, o int, c uint64) bool {
	return c/claimTicket < own/claimTicket && (c|own)&claimExclusive != 0 && !l.apart(i, o, c)
}

// apart reports whether the ranges of claimant i and of claim c of claimant o have no number in common, or claim c
// has ended. Claims without a range have all numbers.
func (l *Lock) apart(i, o int, c uint64) bool {
	a, b := l.line(i), l.line(o)
	if a.end.Load() == 0 {
		return false
	}
	apart := a.end.Load() <= b.first.Load() || b.end.Load() <= a.first.Load()
	if planted.RangeByOne {
		apart = a.end.Load() <= b.first.Load()+1 || b.end.Load() <= a.first.Load()+1
	}
	return apart || b.claim.Load()/claimTicket != c/claimTicket
}

// Hold records that claimant i, for which Look has returned LockFree, holds the lock.
func (l *Lock) Hold(i int) {
	c := &l.line(i).claim
	Publish(c, c.Load()&^(claimTrying|claimAsleep|claimStalled))
}

// AnnounceSleep records that claimant i is about to sleep, because Look has returned found. It must
// Look once more before it sleeps. AnnounceSleep is a full fence.
func (l *Lock) AnnounceSleep(i int, found LockState) {
	c := &l.line(i).claim
	flags := uint64(claimAsleep)
	if found == LockUnclear {
		flags |= claimStalled
	}
	if !planted.SleepUnannounced {
		c.Store(c.Load() | flags)
	}
}

// Moves returns the word to sleep on. A claimant loads it before its last Look, and sleeps while it
// has that value.
func (l *Lock) Moves() *atomic.Uint64 { return &l.head.moves }

// Release retracts the claim of i, whether it held the lock or only tried.
func (l *Lock) Release(i int, dead Dead, ring func(claimant int)) {
	l.retract(i)
	l.leave(i)
	l.Released(i, dead, ring)
}

// Released wakes those that can hold the lock since i has retracted its claim.
func (l *Lock) Released(i int, dead Dead, ring func(claimant int)) {
	if l.crowded(i) {
		l.wake(i, dead, ring)
	}
}

func (l *Lock) retract(i int) { Publish(&l.line(i).claim, 0) }

// leave is a full fence: it pairs with AnnounceSleep.
func (l *Lock) leave(i int) { l.bits[i/64].And(^(uint64(1) << (i % 64))) }

// wake rings the sleepers that can hold the lock now. It does not wait for claimants that are drawing a
// ticket: they ring the stalled sleepers themselves.
func (l *Lock) wake(i int, dead Dead, ring func(claimant int)) {
	if l.line(i).end.Load() != 0 {
		l.wakeRanges(i, dead, ring)
		return
	}
	oldest, oldestExclusive := ^uint64(0), ^uint64(0)
	for _, c := range l.claims(i, dead) {
		oldest = min(oldest, c/claimTicket)
		if c&claimExclusive != 0 {
			oldestExclusive = min(oldestExclusive, c/claimTicket)
		}
	}
	moved := false
	for o, c := range l.claims(i, dead) {
		t := c / claimTicket
		if c&claimAsleep == 0 || planted.WakesOneReader && moved || c&claimExclusive != 0 && t > oldest || c&claimExclusive == 0 && t > oldestExclusive {
			continue
		}
		if !moved {
			moved = true
			l.head.moves.Add(1) // pairs with the load of Moves before the waiter's Look
		}
		ring(o)
	}
}

// wakeRanges is wake of a lock of ranges, or of any after the death of a claimant; i is -1 then.
func (l *Lock) wakeRanges(i int, dead Dead, ring func(claimant int)) {
	moved := false
	for o, own := range l.claims(i, dead) {
		if own&claimAsleep == 0 || l.waits(o, own, i, dead) {
			continue
		}
		if !moved {
			moved = true
			l.head.moves.Add(1) // as in wake
		}
		ring(o)
	}
}

// WakeAfterDeath wakes the sleepers that can hold the lock since a process is known here to be dead. Each process calls it
// when it learns of a death: a sleeper that has learned of it before, and sleeps because of the claim of this process
// alone, was not woken by the release of that claim, as the claim of the dead counted here.
func (l *Lock) WakeAfterDeath(dead Dead, ring func(claimant int)) {
	if !planted.LateNewsSilent {
		l.wakeRanges(-1, dead, ring)
	}
}

// waits reports whether claim own of claimant o waits for that of another claimant than i.
func (l *Lock) waits(o int, own uint64, i int, dead Dead) bool {
	for p, c := range l.claims(i, dead) {
		if p != o && l.conflicts(o, own, p, c) {
			return true
		}
	}
	return false
}

// claims iterates over the claims of all claimants except i and the dead.
func (l *Lock) claims(i int, dead Dead) func(func(int, uint64) bool) {
	return func(yield func(int, uint64) bool) {
		for w := range l.bits {
			for b := l.bits[w].Load() &^ dead.word(w); b != 0; b &= b - 1 {
				o := w*64 + bits.TrailingZeros64(b)
				if o == i || o >= len(l.lines) {
					continue
				}
				if c := l.line(o).claim.Load(); c != 0 && !yield(o, c) {
					return
				}
			}
		}
	}
}

// Contended reports whether another claimant waits for the lock, exclusively.
func (l *Lock) Contended(i int, dead Dead) bool {
	for _, c := range l.claims(i, dead) {
		if c&(claimExclusive|claimTrying) == claimExclusive|claimTrying {
			return true
		}
	}
	return false
}

// ReapDead removes the claims of the dead, and reports one of them that died as the holder: a local
// process, or one on another node by its rank in the window. The other result is -1. Holders of the
// lock call it; each death is reported to one of them.
func (l *Lock) ReapDead(dead Dead) (local, far int) {
	for w := range l.bits {
		for b := l.bits[w].Load() & dead.word(w); b != 0; b &= b - 1 {
			o := w*64 + bits.TrailingZeros64(b)
			c := l.line(o).claim.Load()
			if c != 0 && !l.line(o).claim.CompareAndSwap(c, 0) {
				continue // another holder has removed it
			}
			l.leave(o)
			if c != 0 && c&claimTrying == 0 && !planted.HolderNotReported {
				return o, -1
			}
		}
	}
	if l.head.orphan.Load() != 0 {
		if far := l.head.orphan.Swap(0); far != 0 {
			return -1, int(far - 1)
		}
	}
	return -1, -1
}

// Orphaned records for the next ReapDead that the member of the window with that rank, which is on
// another node, has died as the holder. The service is about to release the lock.
func (l *Lock) Orphaned(rank int) { l.head.orphan.Store(uint64(rank) + 1) }
