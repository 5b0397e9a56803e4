package main

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

// worker is a rank that searches: tasks of its own deque, the newest first, and those that
// are oldest in others' when it has none, which are the largest.
//
// The search is over when no rank has a task. Rank 0 has a number that is never
// less than the number of tasks. A rank adds to it before it makes tasks, for many of them at
// once, and keeps the rest as credit; each finished task adds to the rank's credit. A rank
// that finds no work returns its credit. So the number is 0 when all have returned
// their credit, and never while there is a task.
type worker struct {
	*deque
	open    mpi.Win[int64] // the number, at rank 0
	credit  int64
	spilled []board // what had no room in the deque
	random  *rand.Rand
	size    int
	tally
	stolen int
}

// loan is the credit that a worker takes when it has none.
const loan = 512

func newWorker(world *mpi.Comm, capacity int) (*worker, error) {
	d, err := newDeque(world, capacity)
	if err != nil {
		return nil, err
	}
	w := &worker{deque: d, random: rand.New(rand.NewPCG(uint64(world.Rank()), 1)), size: world.Size()}
	w.open, err = mpi.WinAllocate[int64](world, 1)
	if err != nil {
		return nil, err
	}
	return w, w.open.LockAll(mpi.ModeNoCheck)
}

func (w *worker) free() error {
	if err := w.open.UnlockAll(); err != nil {
		return err
	}
	if err := w.open.Free(); err != nil {
		return err
	}
	return w.deque.free()
}

// owe adds to the number at rank 0, and returns the new value.
func (w *worker) owe(n int64) (int64, error) {
	old, err := w.open.FetchOp(n, 0, 0, mpi.Sum)
	return old + n, err
}

// search places n queens with all the others. Tasks are boards in rows above deep. It is
// over when all have called it and found no more; begin is true on the rank with the empty board.
func (w *worker) search(n, deep int, begin bool) (tally, error) {
	w.tally = tally{}
	if begin {
		if err := w.add(board{}); err != nil {
			return w.tally, err
		}
	}
	for {
		b, ok, err := w.next()
		if err != nil || !ok {
			return w.tally, err
		}
		b.search(n, deep, func(next board) {
			if err == nil {
				err = w.add(next)
			}
		}, &w.tally)
		if err != nil {
			return w.tally, err
		}
		w.credit++ // one task less
	}
}

// add makes a task.
func (w *worker) add(b board) error {
	if w.credit == 0 {
		if _, err := w.owe(loan); err != nil {
			return err
		}
		w.credit = loan
	}
	w.credit--
	pushed, err := w.push(b.task())
	if !pushed {
		w.spilled = append(w.spilled, b)
	}
	return err
}

// next takes a task of its own deque or of another one, and reports false when none is left.
func (w *worker) next() (board, bool, error) {
	task, ok, err := w.pop()
	if err != nil || ok {
		return boardOf(task), ok, err
	}
	if n := len(w.spilled); n > 0 {
		b := w.spilled[n-1]
		w.spilled = w.spilled[:n-1]
		return b, true, nil
	}
	for tries := 0; ; tries++ {
		if w.size > 1 {
			task, ok, err := w.steal((w.me + 1 + w.random.IntN(w.size-1)) % w.size)
			if ok {
				w.stolen++
			}
			if err != nil || ok {
				return boardOf(task), ok, err
			}
		}
		left, err := w.owe(-w.credit)
		w.credit = 0
		if err != nil || left == 0 {
			return board{}, false, err
		}
		pause(tries)
	}
}

// pause yields the core between two attempts: there may be more ranks than cores. Ranks that are
// goroutines of one process get one by Gosched, others when this one sleeps.
func pause(tries int) {
	if tries < 20 {
		runtime.Gosched()
		return
	}
	time.Sleep(min(time.Duration(tries)*time.Microsecond, time.Millisecond))
}
