package main

import "github.com/halo-mpi/halo/mpi"

// queue is a bounded queue of tasks in the memory of rank 0, for goroutines of all ranks:
// Vyukov's, in which the turn word of a slot says which user may use it next. The turn counts how
// often the slot was filled and emptied: it is 2*lap when a producer may fill it in that lap,
// one more when a consumer may empty it.
//
// To push or pop, a user increments a number of the queue, tail or head, by compare_and_swap, and
// owns the slot until it updates the turn word. To fill a slot it puts the task and then updates
// the turn, which must not happen first; to empty one it gets the task and then updates the turn.
// In an ordered view these are issued one after the other without waiting; in other views a
// flush must separate them. The same is true for the number of open tasks, which is increased before
// a task can be taken, and decreased when all its results have arrived.
//
// Users never wait for a turn: push and pop report at once that the queue is full or empty.
type queue struct{ win mpi.Win[int64] }

// The words of the queue, each number in a cache line of its own.
const (
	tailWord  = 0
	headWord  = 8
	openWord  = 16 // tasks that are not done
	areaWord  = 24 // what tasks have found, in units
	partsWord = 25 // in how many parts
	firstSlot = 32

	turnWord = 0
	taskWord = 1
	slotSize = 4
	slots    = 1024
)

// task is an interval to integrate over, in units: where it begins, and how long it is.
type task [2]int64

func newQueue(world *mpi.Comm) (*queue, error) {
	size := 0
	if world.Rank() == 0 {
		size = firstSlot + slots*slotSize // zero: it is empty
	}
	win, err := mpi.WinAllocate[int64](world, size)
	if err != nil {
		return nil, err
	}
	return &queue{win}, win.LockAll(mpi.ModeNoCheck)
}

func (q *queue) free() error {
	if err := q.win.UnlockAll(); err != nil {
		return err
	}
	return q.win.Free()
}

// user is a goroutine that uses the queue through a view. Its memory is that of operations
// under way: each field is of one of them at most, until the next flush.
type user struct {
	view    mpi.Win[int64]
	ordered bool // the view is

	one, none, turn, found, parts int64
	pushed                        task

	new, compare, old int64
}

// fetch returns a word, and flushes.
func (u *user) fetch(word int) (int64, error) {
	if err := u.view.FetchAndOp(&u.new, &u.old, 0, word, mpi.NoOp); err != nil {
		return 0, err
	}
	err := u.view.Flush(0)
	return u.old, err
}

// move replaces a word by the next number if it is n, and flushes.
func (u *user) move(word int, n int64) (bool, error) {
	u.new, u.compare = n+1, n
	if err := u.view.CompareAndSwap(&u.new, &u.compare, &u.old, 0, word); err != nil {
		return false, err
	}
	err := u.view.Flush(0)
	return u.old == n, err
}

// then makes operations that are issued next happen after those that were issued before.
func (u *user) then() error {
	if u.ordered {
		return nil
	}
	return u.view.Flush(0)
}

// claim takes the next slot of head or tail, or reports false if the turn word of the slot is not
// that of the lap plus the given offset.
func (u *user) claim(word int, more int64) (slot int, ok bool, err error) {
	for {
		n, err := u.fetch(word)
		if err != nil {
			return 0, false, err
		}
		slot, turn := firstSlot+int(n%slots)*slotSize, n/slots*2+more
		now, err := u.fetch(slot + turnWord)
		if err != nil || now < turn {
			return 0, false, err
		}
		if now > turn {
			continue // another user has taken it
		}
		if ok, err := u.move(word, n); ok || err != nil {
			u.turn = turn + 1
			return slot, ok, err
		}
	}
}

// pass gives the slot to its next user.
func (u *user) pass(slot int) error {
	return u.view.Accumulate(slice(&u.turn), 0, slot+turnWord, mpi.Replace)
}

// push adds a task, or reports false if the queue is full.
func (u *user) push(t task) (bool, error) {
	slot, ok, err := u.claim(tailWord, 0)
	if err != nil || !ok {
		return false, err
	}
	u.one, u.pushed = 1, t
	if err := u.view.Accumulate(slice(&u.one), 0, openWord, mpi.Sum); err != nil {
		return false, err
	}
	if err := u.view.Put(u.pushed[:], 0, slot+taskWord); err != nil {
		return false, err
	}
	if err := u.then(); err != nil {
		return false, err
	}
	return true, u.pass(slot)
}

// pop takes a task, or reports false if there is none.
func (u *user) pop() (t task, ok bool, err error) {
	slot, ok, err := u.claim(headWord, 1)
	if err != nil || !ok {
		return t, false, err
	}
	if err := u.view.Get(t[:], 0, slot+taskWord); err != nil {
		return t, false, err
	}
	if err := u.then(); err != nil {
		return t, false, err
	}
	if err := u.pass(slot); err != nil {
		return t, false, err
	}
	return t, true, u.view.Flush(0)
}

// done records that a task is done, with its result.
func (u *user) done(found, parts int64) error {
	u.found, u.parts, u.none = found, parts, -1
	if err := u.view.Accumulate(slice(&u.found), 0, areaWord, mpi.Sum); err != nil {
		return err
	}
	if err := u.view.Accumulate(slice(&u.parts), 0, partsWord, mpi.Sum); err != nil {
		return err
	}
	if err := u.then(); err != nil { // a user that sees no open task must see all results
		return err
	}
	return u.view.Accumulate(slice(&u.none), 0, openWord, mpi.Sum)
}
