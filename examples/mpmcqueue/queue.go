package main

import (
	"runtime"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// queue is the bounded queue of Vyukov for many producers and consumers, with slots that are
// spread over the memory of all ranks. Two numbers at rank 0 give tickets, by
// fetch_and_op: the producer with ticket t fills slot t modulo their number, the consumer
// with ticket t empties it. Whose turn it is at a slot its turn word tells: it counts how
// often the slot was filled or emptied, and so is even for producers and odd for consumers.
// So nobody is in anybody's way but at the same slot, and first in is first out.
//
// The item is put and got as any memory. The turn word is written and read by atomic
// operations alone, and hands the slot over: who fills or empties flushes before he passes
// the turn on, who waits sees the turn before he begins.
//
// The slots are not the own rank's, so that waiting for a turn is looking at memory of
// another rank. With a ticket there is one who looks at a slot, at most two.
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

// item is what goes through the queue: a value, and a sum that shows if it has been torn.
type item [2]uint64

func itemOf(value uint64) item { return item{value, ^value * 0x9e3779b97f4a7c15} }

// newQueue makes one with so many slots on each rank. It is empty, as memory of a window is
// zero.
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
	waited int // how often it looked in vain
}

// slot is where a ticket leads to.
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

// pass passes the turn on when the item has been put or got.
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

// pause is what comes between two looks: there may be more ranks than cores, and who is
// waited for needs one. Goroutines of one process get it by Gosched, others when this one
// sleeps.
func pause(looks int) {
	if looks < 20 {
		runtime.Gosched()
		return
	}
	time.Sleep(min(time.Duration(looks)*time.Microsecond, 500*time.Microsecond))
}
