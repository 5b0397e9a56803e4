package shmfmt

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/halo-mpi/halo/internal/planted"
)

// Lock is the passive lock of a window at one target, shared or exclusive, held in
// memory. Claimants are the n processes of the node, each for itself, and number n:
// the target's service, for all origins on other nodes.
//
// It is Lamport's bakery with announcements. To claim it a claimant sets its bit,
// draws a ticket, and writes ticket and mode to its own line. It has the lock when no
// claim that is older conflicts with its own; so conflicting claims have it in the
// order of their tickets, and nobody starves. A bit without a claim is of somebody who
// is drawing a ticket, perhaps an older one, or who is leaving: one waits for that to
// be over. To release it a claimant takes back claim and bit.
//
// Nothing is handed over, so a claimant that dies needs nobody's help: the others
// pass over its claim when they know of the death. A claim that is not Trying any more
// was a lock that was held. Whoever has the lock next and takes such a claim of a
// dead process away is the one that is told (Heir).
//
// A claimant that goes to sleep says so in its claim, looks once more, and sleeps
// until Moves moves. Whoever releases the lock, after that, moves Moves and rings
// those asleep that it makes free: so with many waiters each release wakes one, or
// the readers that are next. Who publishes its claim rings those that have found only
// its bit (stalled).
//
// Rejected: a mutex with a queue in memory (a death in the middle of changing the queue
// is everybody's end), and one word of counts (it does not say who held it).
//
// Steps are methods of their own, so that tests can interleave them and end a
// claimant after each.
type Lock struct {
	head  *lockHead
	bits  []atomic.Uint64 // of claimants
	lines []windowLine    // by claimant
}

// lockHead is followed by the bits, in the same line if they are few.
type lockHead struct {
	next   atomic.Uint64 // counts tickets
	moves  atomic.Uint64 // counts changes that somebody was woken for
	orphan atomic.Uint64 // 1 + rank of an origin on another node that died with the lock, 0 if none
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
	claimTrying    // has not got the lock yet
	claimAsleep    // wants to be rung when a release makes it free
	claimStalled   // wants to be rung when somebody publishes a claim
	claimTicket    = 1 << iota
)

// LockState is what a claimant finds.
type LockState int

// The states. The order is that of what to be rung for.
const (
	// LockFree says that the claimant has the lock.
	LockFree LockState = iota
	// LockTaken says that an older claim conflicts.
	LockTaken
	// LockUnclear says that somebody is drawing a ticket, perhaps an older one.
	LockUnclear
)

// Dead are the local processes that are known to be dead, as each process sees it.
// Deaths are added beside lookups.
type Dead []atomic.Uint64

// NewDead is an empty set for n local processes.
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

// Service is the claimant that stands for the origins on other nodes.
func (l *Lock) Service() int { return len(l.lines) - 1 }

// Claim makes a claim for claimant i, who has none. ring wakes a claimant.
func (l *Lock) Claim(i int, exclusive bool, ring func(claimant int)) {
	l.announce(i)
	l.publish(i, l.draw(), exclusive)
	if l.crowded(i) {
		l.unstall(i, ring)
	}
}

func (l *Lock) announce(i int) { l.bits[i/64].Or(1 << (i % 64)) }

func (l *Lock) draw() (ticket uint64) { return l.head.next.Add(1) }

// publish is a full fence: either a claimant that looks later sees the claim, or
// what it has published is seen by who looks after this.
func (l *Lock) publish(i int, ticket uint64, exclusive bool) {
	c := ticket*claimTicket | claimTrying
	if exclusive && !planted.LockShared {
		c |= claimExclusive
	}
	l.line(i).claim.Store(c)
}

// crowded reports whether others have announced themselves.
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

// unstall rings those who wait until the claim of i is published.
func (l *Lock) unstall(i int, ring func(claimant int)) {
	moved := false
	for w := range l.bits {
		for b := l.bits[w].Load(); b != 0; b &= b - 1 {
			o := w*64 + bits.TrailingZeros64(b)
			if o == i || o >= len(l.lines) || l.line(o).claim.Load()&claimStalled == 0 { // pairs with the store in Doze
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

// Look reports whether claimant i has the lock, as far as those count who are not dead.
func (l *Lock) Look(i int, dead Dead) LockState {
	state, own := LockFree, l.line(i).claim.Load()
	for w := range l.bits {
		b := l.bits[w].Load() // pairs with announce
		if w == i/64 {
			b &^= 1 << (i % 64)
		}
		for b &^= dead.word(w); b != 0; b &= b - 1 {
			o := w*64 + bits.TrailingZeros64(b)
			if o >= len(l.lines) {
				break // nobody's
			}
			c := l.line(o).claim.Load() // pairs with the stores in publish and leave
			switch {
			case c == 0:
				if l.bits[w].Load()&(1<<(o%64)) != 0 && !planted.DrawerPassed {
					state = LockUnclear
				}
			case c/claimTicket < own/claimTicket && (c|own)&claimExclusive != 0 && !(planted.LockTwice && c&claimTrying == 0):
				return LockTaken
			}
		}
	}
	return state
}

// Hold notes that claimant i, whose claim Look has found free, has the lock.
func (l *Lock) Hold(i int) {
	c := &l.line(i).claim
	Publish(c, c.Load()&^(claimTrying|claimAsleep|claimStalled))
}

// Doze says that claimant i is about to sleep because it has found that state. It
// must look once more after this. It is a full fence.
func (l *Lock) Doze(i int, found LockState) {
	c := &l.line(i).claim
	flags := uint64(claimAsleep)
	if found == LockUnclear {
		flags |= claimStalled
	}
	if !planted.DozeSilent {
		c.Store(c.Load() | flags)
	}
}

// Moves is the word to sleep on: its value before the Look is to be passed.
func (l *Lock) Moves() *atomic.Uint64 { return &l.head.moves }

// Release takes back the claim of i, whether it had the lock or only tried.
func (l *Lock) Release(i int, dead Dead, ring func(claimant int)) {
	l.retract(i)
	l.leave(i)
	if l.crowded(i) {
		l.wake(i, dead, ring)
	}
}

func (l *Lock) retract(i int) { Publish(&l.line(i).claim, 0) }

// leave is a full fence: it pairs with Doze.
func (l *Lock) leave(i int) { l.bits[i/64].And(^(uint64(1) << (i % 64))) }

// wake rings those who sleep and have the lock now. One who is drawing a ticket is
// not waited for: it rings by itself.
func (l *Lock) wake(i int, dead Dead, ring func(claimant int)) {
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

// claims are those of the living but i.
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

// Contended reports whether another claimant waits to have the lock exclusively.
func (l *Lock) Contended(i int, dead Dead) bool {
	for _, c := range l.claims(i, dead) {
		if c&(claimExclusive|claimTrying) == claimExclusive|claimTrying {
			return true
		}
	}
	return false
}

// Heir takes away what the dead have left, and reports one of them that died with
// the lock: a local process, or one on another node by its rank in the window. It is
// called by a claimant who has the lock; of all who do one is told of a death.
func (l *Lock) Heir(dead Dead) (local, far int) {
	for w := range l.bits {
		for b := l.bits[w].Load() & dead.word(w); b != 0; b &= b - 1 {
			o := w*64 + bits.TrailingZeros64(b)
			c := l.line(o).claim.Load()
			if c != 0 && !l.line(o).claim.CompareAndSwap(c, 0) {
				continue // another has taken it
			}
			l.leave(o)
			if c != 0 && c&claimTrying == 0 && !planted.HeirNotTold {
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

// Orphaned notes, for the next Heir, that a member of the window on another node, which is
// called by its rank, has died with the lock. The service is about to release it.
func (l *Lock) Orphaned(rank int) { l.head.orphan.Store(uint64(rank) + 1) }
