package main

import (
	"runtime"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// queue is the bounded queue of Vyukov for many producers and consumers, with slots that are
// spread over the memory of all ranks. Two numbers at rank 0 give tickets, by
// fetch_and_op: the producer with ticket t fills slot t modulo their number, the consumer
// with ticket t empties it. The turn word of a slot counts how often the slot was filled or
// emptied, so it is even when a producer may use the slot, and odd when a consumer may. Users
// compete only for the same slot, and items leave the queue in the order in which they enter it.
//
// The item is accessed by put and get. The turn word is accessed by atomic operations only, and
// hands the slot over: a user that fills or empties the slot flushes before it increments the turn
// word, and the next user reads the turn word before it begins.
//
// Slots are on other ranks, so that waiting for a turn polls memory of another rank. Because of the
// tickets at most two users poll a slot.
type queue struct {
	win   mpi.Win[uint64]
	size  int // ranks
	slots uint64
}

// The words of a rank's memory, of which those of tickets are rank 0's, and of a slot.
const (
	producers = 0 // the next ticket
	consumers = 8 // the next ticket, in a cache line of its own
	firstSlot = 16

	turnWord = 0
	itemWord = 1
	slotSize = 1 + len(item{})
)

// item is an element of the queue: a value, and a checksum that shows whether it was torn.
type item [2]uint64

func itemOf(value uint64) item { return item{value, ^value * 0x9e3779b97f4a7c15} }

// newQueue makes a queue with the given number of slots on each rank. It is empty, since memory
// of a window is zero at first.
func newQueue(world *mpi.Comm, slots int) (*queue, error) {
	win, err := mpi.WinAllocate[uint64](world, firstSlot+slots*slotSize)
	if err != nil {
		return nil, err
	}
	q := &queue{win: win, size: world.Size(), slots: uint64(slots * world.Size())}
	return q, q.win.LockAll(mpi.ModeNoCheck)
}

func (q *queue) free() error {
	if err := q.win.UnlockAll(); err != nil {
		return err
	}
	return q.win.Free()
}

// user is a goroutine that uses the queue.
type user struct {
	*queue
	waited int // polls that found that it was not the turn
}

// slot is the slot of a ticket.
type slot struct {
	rank, word int
	turn       uint64 // of the turn word, when it is that ticket's
}

// wait takes the next ticket of producers or consumers, and waits for its turn.
func (u *user) wait(kind int) (s slot, err error) {
	ticket, err := u.win.FetchOp(1, 0, kind, mpi.Sum)
	if err != nil {
		return s, err
	}
	number, lap := int(ticket%u.slots), ticket/u.slots
	s = slot{number % u.size, firstSlot + number/u.size*slotSize, 2 * lap}
	if kind == consumers {
		s.turn++
	}
	for looks := 0; ; looks++ {
		turn, err := u.win.FetchOp(0, s.rank, s.word+turnWord, mpi.NoOp)
		if err != nil || turn == s.turn {
			return s, err
		}
		u.waited++
		pause(looks)
	}
}

// pass increments the turn word when the item has been put or got.
func (u *user) pass(s slot) error {
	if err := u.win.Flush(s.rank); err != nil {
		return err
	}
	_, err := u.win.FetchOp(s.turn+1, s.rank, s.word+turnWord, mpi.Replace)
	return err
}

// push adds an item, and waits while the queue is full.
func (u *user) push(i item) error {
	s, err := u.wait(producers)
	if err != nil {
		return err
	}
	if err := u.win.Put(i[:], s.rank, s.word+itemWord); err != nil {
		return err
	}
	return u.pass(s)
}

// pop takes an item, and waits while there is none.
func (u *user) pop() (i item, err error) {
	s, err := u.wait(consumers)
	if err != nil {
		return i, err
	}
	if err := u.win.Get(i[:], s.rank, s.word+itemWord); err != nil {
		return i, err
	}
	err = u.pass(s)
	return i, err
}

// pause yields the core between two polls: there may be more ranks than cores, and the rank that
// this one waits for needs a core. Goroutines of one process get it by Gosched, others when this
// one sleeps.
func pause(looks int) {
	if looks < 20 {
		runtime.Gosched()
		return
	}
	time.Sleep(min(time.Duration(looks)*time.Microsecond, 500*time.Microsecond))
}
