package main

import "github.com/halo-mpi/halo/mpi"

// deque is the work-stealing deque of Chase and Lev in a window, one in each rank's memory.
// Its tasks are those between two numbers that only grow, but for a moment: top, where
// thieves take, and bottom, where the owner pushes and pops. Task i is in slot i modulo
// their number.
//
//   - push writes the task, and then bottom. The owner alone writes bottom.
//   - steal reads top, bottom and the task, and then moves top on by compare_and_swap. The
//     task counts if that succeeds: then top was the same all the time, and a slot is not
//     written again before top has passed it.
//   - pop decrements bottom, and then reads top: so either a thief sees the lower bottom, or pop
//     sees the higher top. For the last task both try to increment top, and one succeeds.
//
// This is correct only if operations happen in this order, although they access
// different words: each is flushed before the next. All words are accessed by atomic
// operations only, the slots too: the compare_and_swap of a thief that reads a slot too late fails
// anyway, but its read must not be a data race.
type deque struct {
	win      mpi.Win[uint64]
	me       int
	capacity uint64
	bottom   uint64 // value of the own bottom word
	seen     uint64 // lower bound of the own top

	new, compare, old uint64 // of an operation on its way
}

// The words of a rank's memory. The two numbers are in cache lines of their own.
const (
	topWord    = 0
	bottomWord = 8
	firstSlot  = 16
)

// newDeque makes an empty one with so many slots at each rank.
func newDeque(world *mpi.Comm, capacity int) (*deque, error) {
	win, err := mpi.WinAllocate[uint64](world, firstSlot+capacity)
	if err != nil {
		return nil, err
	}
	return &deque{win: win, me: world.Rank(), capacity: uint64(capacity)}, win.LockAll(mpi.ModeNoCheck)
}

func (d *deque) free() error {
	if err := d.win.UnlockAll(); err != nil {
		return err
	}
	return d.win.Free()
}

func (d *deque) slot(i uint64) int { return firstSlot + int(i%d.capacity) }

func (d *deque) load(rank, word int) (uint64, error) {
	if err := d.win.FetchAndOp(&d.new, &d.old, rank, word, mpi.NoOp); err != nil {
		return 0, err
	}
	err := d.win.Flush(rank)
	return d.old, err
}

// store writes an own word.
func (d *deque) store(word int, value uint64) error {
	d.new = value
	if err := d.win.FetchAndOp(&d.new, &d.old, d.me, word, mpi.Replace); err != nil {
		return err
	}
	return d.win.Flush(d.me)
}

// pass increments top from i, unless another rank has.
func (d *deque) pass(rank int, i uint64) (bool, error) {
	d.compare, d.new = i, i+1
	if err := d.win.CompareAndSwap(&d.new, &d.compare, &d.old, rank, topWord); err != nil {
		return false, err
	}
	err := d.win.Flush(rank)
	return d.old == i, err
}

// push adds a task, or reports false if there is no room.
func (d *deque) push(task uint64) (bool, error) {
	if d.bottom-d.seen == d.capacity {
		var err error
		d.seen, err = d.load(d.me, topWord)
		if err != nil || d.bottom-d.seen == d.capacity {
			return false, err
		}
	}
	if err := d.store(d.slot(d.bottom), task); err != nil {
		return false, err
	}
	d.bottom++
	return true, d.store(bottomWord, d.bottom)
}

// pop takes the task that was pushed last.
func (d *deque) pop() (task uint64, ok bool, err error) {
	b := d.bottom - 1
	if err := d.store(bottomWord, b); err != nil {
		return 0, false, err
	}
	top, err := d.load(d.me, topWord)
	if err != nil {
		return 0, false, err
	}
	d.seen = top
	left := int64(b - top) // of others
	if left >= 0 {
		task, err = d.load(d.me, d.slot(b))
		if err != nil || left > 0 {
			d.bottom = b
			return task, true, err
		}
		ok, err = d.pass(d.me, top)
		if err != nil {
			return 0, false, err
		}
	}
	return task, ok, d.store(bottomWord, d.bottom) // top has got there, too
}

// steal takes the oldest task of a rank. It fails if there is none, or if another rank
// got it.
func (d *deque) steal(victim int) (task uint64, ok bool, err error) {
	top, err := d.load(victim, topWord)
	if err != nil {
		return 0, false, err
	}
	bottom, err := d.load(victim, bottomWord)
	if err != nil || int64(bottom-top) <= 0 {
		return 0, false, err
	}
	task, err = d.load(victim, d.slot(top))
	if err != nil {
		return 0, false, err
	}
	ok, err = d.pass(victim, top)
	return task, ok, err
}
