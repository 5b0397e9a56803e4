package main

import (
	"runtime"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// lock is the queue lock of Mellor-Crummey and Scott in a window. Each rank is home to one
// lock, and has one node, with which it waits for whichever lock it wants.
//
// To acquire a lock, a rank swaps its own name with that of the last rank in the queue, at the
// lock's home. If there was a last rank, its predecessor, it writes its name to the next word of
// the predecessor's node, and waits until a word of its own node is cleared. A waiting rank reads
// only its own memory, which costs no message and no time of other ranks. To release the lock, a
// rank clears the word of its successor. If it has none, it removes its name from the queue by
// compare_and_swap; if it is no longer the last there, a successor is about to write its name.
//
// All words of lock and node are accessed by atomic operations only, even those of the own rank:
// FetchOp with NoOp on the own rank is an atomic load, which the compiler does not move
// out of a loop, and which the race detector knows. A load through Local would be a race with the
// rank that clears the word. Each operation is complete at its target when its call returns,
// which gives the order that the algorithm needs.
type lock struct {
	win mpi.Win[uint64]
	me  int
}

// The words of a rank's memory. Names are ranks plus 1, 0 is nobody.
const (
	last      = iota // of a lock: the last rank in the queue
	next             // of a node: the next rank in the queue
	waiting          // of a node: 1 until the predecessor has unlocked
	protected        // what the lock protects, a record
	words     = protected + fields
)

// newLock makes a lock at each rank, which nobody holds: memory of a window is zero.
func newLock(world *mpi.Comm) (*lock, error) {
	win, err := mpi.WinAllocate[uint64](world, words)
	if err != nil {
		return nil, err
	}
	// This epoch lasts until the end: ranks never lock the window itself.
	return &lock{win: win, me: world.Rank()}, win.LockAll(mpi.ModeNoCheck)
}

func (l *lock) free() error {
	if err := l.win.UnlockAll(); err != nil {
		return err
	}
	return l.win.Free()
}

// swap replaces a word and returns what it was.
func (l *lock) swap(rank, word int, value uint64) (uint64, error) {
	return l.win.FetchOp(value, rank, word, mpi.Replace)
}

// load returns a word.
func (l *lock) load(rank, word int) (uint64, error) { return l.win.FetchOp(0, rank, word, mpi.NoOp) }

// acquire waits for the lock of home, and returns the predecessor in the queue, or 0 if
// nobody held it.
func (l *lock) acquire(home int) (before uint64, err error) {
	if _, err := l.swap(l.me, next, 0); err != nil {
		return 0, err
	}
	if _, err := l.swap(l.me, waiting, 1); err != nil { // before anybody can clear it
		return 0, err
	}
	before, err = l.swap(home, last, uint64(l.me+1))
	if err != nil || before == 0 {
		return 0, err
	}
	if _, err := l.swap(int(before-1), next, uint64(l.me+1)); err != nil {
		return 0, err
	}
	_, err = l.await(waiting, func(w uint64) bool { return w == 0 })
	return before, err
}

// release unlocks the lock of home.
func (l *lock) release(home int) error {
	successor, err := l.load(l.me, next)
	if err != nil {
		return err
	}
	if successor == 0 {
		me := uint64(l.me + 1)
		if was, err := l.win.CompareSwap(0, me, home, last); err != nil || was == me {
			return err
		}
		successor, err = l.await(next, func(s uint64) bool { return s != 0 })
		if err != nil {
			return err
		}
	}
	_, err = l.swap(int(successor-1), waiting, 0)
	return err
}

// await polls a word of the own rank until it has the expected value.
func (l *lock) await(word int, done func(uint64) bool) (uint64, error) {
	for looks := 0; ; looks++ {
		value, err := l.load(l.me, word)
		if err != nil || done(value) {
			return value, err
		}
		pause(looks)
	}
}

// pause yields the core between two polls: there may be more ranks than cores, and the rank that
// this one waits for needs a core. Ranks that are goroutines of one process get it by Gosched,
// others when this one sleeps.
func pause(looks int) {
	if looks < 100 {
		runtime.Gosched()
		return
	}
	time.Sleep(min(time.Duration(looks)*time.Microsecond/10, 200*time.Microsecond))
}
