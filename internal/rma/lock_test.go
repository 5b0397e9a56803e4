package rma_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// hold locks a target and returns when the lock is held, which Lock alone does not promise for a
// target on another node: the first flush does.
func hold(v *rma.View, exclusive bool, target int) error {
	err := v.Lock(exclusive, target, 0)
	if err == nil {
		err = v.Flush(target)
		if err != nil {
			v.Unlock(target) // it ends the epoch, and tells the same
		}
	}
	return err
}

// add reads a word of a target, adds one and writes it back: not atomically.
func add(v *rma.View, target int, disp int64) error {
	b := make([]byte, 8)
	if err := v.GetBytes(b, target, disp); err != nil {
		return err
	}
	if err := v.Flush(target); err != nil {
		return err
	}
	return v.PutBytes(word(number(b)+1), target, disp)
}

// RW-09, RS-03, X-RMA-13: a counter that all ranks increase under an exclusive lock, the
// owner by loads and stores, is exact: on memory of every kind.
func TestRW09_ExclusiveCounter(t *testing.T) {
	each(t, 4, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		return inKinds(w, 8, func(v *rma.View) error {
			rounds := scaled(200)
			for range rounds {
				for target := range n {
					err := v.Lock(true, target, 0)
					if err == nil && target == me {
						put64(v.Local(), get64(v.Local())+1)
					} else if err == nil {
						err = add(v, target, 0)
					}
					if err == nil {
						err = v.Unlock(target)
					}
					if err != nil {
						return err
					}
				}
			}
			if err := first(func() error { return barrier(w) }, func() error { return v.Lock(false, me, 0) }); err != nil {
				return err
			}
			if got := get64(v.Local()); got != uint64(n*rounds) {
				return fmt.Errorf("counter is %d, want %d", got, n*rounds)
			}
			return v.Unlock(me)
		})
	})
}

// RM-01, RM-02, RM-03, RM-07, X-RMA-07: rules 5 and 6 of 12.7, unified model: a process that locks
// the window later sees what was stored or put under a lock.
func TestRM01_LockedStoresAndPutsAreSeen(t *testing.T) {
	each(t, 2, func(w *world.World) error {
		me := w.Comm.Rank
		return inKinds(w, 8, func(v *rma.View) error {
			b := make([]byte, 8)
			for k := range uint64(scaled(400)) {
				var err error
				if me == 1 { // B stores into its own window
					err = v.Lock(true, 1, 0)
					if err == nil {
						put64(v.Local(), 2*k)
						err = v.Unlock(1)
					}
				}
				if err := first(func() error { return err }, func() error { return barrier(w) }); err != nil {
					return err
				}
				if me == 0 { // A gets it, and puts
					err = first(func() error { return v.Lock(true, 1, 0) },
						func() error { return v.GetBytes(b, 1, 0) },
						func() error { return v.Flush(1) },
						func() error { return v.PutBytes(word(2*k+1), 1, 0) },
						func() error { return v.Unlock(1) })
					if err == nil && number(b) != 2*k {
						err = fmt.Errorf("A got %d, want %d", number(b), 2*k)
					}
				}
				if err := first(func() error { return err }, func() error { return barrier(w) }); err != nil {
					return err
				}
				if me == 1 { // B loads it under a lock
					err = v.Lock(false, 1, 0)
					if err == nil {
						if got := get64(v.Local()); got != 2*k+1 {
							return fmt.Errorf("B loads %d, want %d", got, 2*k+1)
						}
						err = v.Unlock(1)
					}
				}
				if err := first(func() error { return err }, func() error { return barrier(w) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// board is the oracle: which of the ranks, which are goroutines, have a lock.
type board struct {
	mu      sync.Mutex
	writers map[int]int // by target
	readers map[int]int
	both    int // readers that were in together
}

func (b *board) enter(target int, exclusive bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writers[target] > 0 || exclusive && b.readers[target] > 0 {
		return fmt.Errorf("target %d is locked while %d write and %d read", target, b.writers[target], b.readers[target])
	}
	if exclusive {
		b.writers[target]++
	} else {
		b.readers[target]++
		if b.readers[target] > 1 {
			b.both++
		}
	}
	return nil
}

func (b *board) leave(target int, exclusive bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if exclusive {
		b.writers[target]--
	} else {
		b.readers[target]--
	}
}

// RW-09, X-RMA-04: random locks, nested ones in the order of the ranks, of all, shared and
// exclusive, with delays anywhere and with more ranks than cores: an exclusive one is alone, shared
// ones are together, and no rank waits for ever. RS-10.
func TestRW09_LocksExclude(t *testing.T) {
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@01100", "shm@01101", "shm@01223") {
		b := &board{writers: map[int]int{}, readers: map[int]int{}}
		on(t, fabric, 5, func(w *world.World) error { return stressLocks(w, b, scaled(80)) })
		if b.both == 0 {
			t.Errorf("%s: never were two readers in together", fabric)
		}
	}
}

// stressLocks does random locks and asks the board whether they are right.
func stressLocks(w *world.World, b *board, rounds int) error {
	n, me := w.Comm.Size(), w.Comm.Rank
	return inWindow(w, rma.Spec{Flavor: rma.Allocated, Size: int64(8 * n), DispUnit: 1}, func(v *rma.View) error {
		g := rand.New(rand.NewPCG(uint64(me), 7))
		delay := func() {
			switch g.IntN(12) {
			case 0:
				time.Sleep(time.Duration(g.IntN(300)) * time.Microsecond)
			case 1:
				w.Proc.Yield()
			}
		}
		for range rounds {
			if g.IntN(5) == 0 {
				if err := stressAll(v, b, g, delay); err != nil {
					return err
				}
				continue
			}
			type lock struct {
				target    int
				exclusive bool
			}
			var held []lock
			for target := range n {
				if g.IntN(n) > 1 {
					continue
				}
				l := lock{target, g.IntN(2) == 0}
				if g.IntN(4) == 0 { // whether it is held does not matter: an epoch of one put
					if err := first(func() error { return v.Lock(l.exclusive, target, 0) },
						func() error { return v.PutBytes(word(1), target, int64(8*me)) },
						func() error { return v.Unlock(target) }); err != nil {
						return err
					}
					continue
				}
				if err := hold(v, l.exclusive, target); err != nil {
					return err
				}
				if err := b.enter(target, l.exclusive); err != nil {
					return err
				}
				held = append(held, l)
				delay()
			}
			for _, l := range held {
				if g.IntN(2) == 0 {
					if err := v.PutBytes(word(1), l.target, int64(8*me)); err != nil {
						return err
					}
				}
				if g.IntN(4) == 0 {
					if err := v.Flush(l.target); err != nil {
						return err
					}
				}
			}
			g.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
			for _, l := range held {
				delay()
				b.leave(l.target, l.exclusive)
				if err := v.Unlock(l.target); err != nil {
					return err
				}
			}
			delay()
		}
		return nil
	})
}

// stressAll is an epoch of LockAll.
func stressAll(v *rma.View, b *board, g *rand.Rand, delay func()) error {
	n := v.Comm().Size()
	if err := v.LockAll(0); err != nil {
		return err
	}
	var in []int
	for target := range n {
		if g.IntN(2) == 0 {
			continue
		}
		if err := first(
			func() error { return v.PutBytes(word(2), target, int64(8*v.Comm().Rank)) },
			func() error { return v.Flush(target) }); err != nil {
			return err
		}
		if err := b.enter(target, false); err != nil {
			return err
		}
		in = append(in, target)
		delay()
	}
	for _, target := range in {
		b.leave(target, false)
	}
	return v.UnlockAll()
}

// Locks are fair: a writer gets the lock while readers overlap all the time, and a reader gets it
// among writers, whether they claim it in memory or by frames. The test counts how often it is
// overtaken.
func TestLocksAreFair(t *testing.T) {
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@01100", "shm@01100") {
		for _, exclusive := range []bool{true, false} {
			on(t, fabric, 5, func(w *world.World) error {
				return inWindow(w, rma.Spec{Flavor: rma.Allocated, Size: 16, DispUnit: 1}, func(v *rma.View) error {
					return starve(w, v, exclusive)
				})
			})
		}
	}
}

// starve has rank 1 lock rank 0 a few times, and all others again and again in the other mode until
// rank 1 is done; two of them hold it in turn, so that it is never free.
func starve(w *world.World, v *rma.View, exclusive bool) error {
	one := word(1)
	if w.Comm.Rank == 1 {
		for range 20 {
			if err := first(func() error { return v.Lock(exclusive, 0, 0) }, func() error { return v.Unlock(0) }); err != nil {
				return err
			}
		}
		// Tell the others, on the same window.
		return first(func() error { return v.Lock(false, 0, 0) },
			func() error { return v.Accumulate(mem.Of(one), 0, 8, operation.Place{}, op.Replace, op.Int64) },
			func() error { return v.Unlock(0) })
	}
	b := make([]byte, 8)
	for {
		if err := first(func() error { return v.Lock(!exclusive, 0, 0) },
			func() error { return v.FetchAndOp(nil, b, 0, 8, op.NoOp, op.Int64) },
			func() error { return v.Flush(0) }); err != nil {
			return err
		}
		w.Proc.Yield() // hold it for a while
		if err := v.Unlock(0); err != nil {
			return err
		}
		if number(b) == 1 {
			return nil
		}
	}
}

// X-RMA-04: LockAll excludes exclusive locks.
func TestXRMA04_LockAllExcludes(t *testing.T) {
	each(t, 3, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		return inKinds(w, 16, func(v *rma.View) error {
			for k := range uint64(scaled(60)) {
				if (int(k)+me)%n == 0 {
					for target := range n {
						if err := first(func() error { return v.Lock(true, target, 0) },
							func() error { return add(v, target, 0) },
							func() error { return add(v, target, 8) },
							func() error { return v.Unlock(target) }); err != nil {
							return err
						}
					}
					continue
				}
				b, c := make([]byte, 8), make([]byte, 8)
				if err := v.LockAll(0); err != nil {
					return err
				}
				for target := range n {
					if err := first(func() error { return v.GetBytes(b, target, 0) },
						func() error { return v.Flush(target) },
						func() error { w.Proc.Yield(); return nil },
						func() error { return v.GetBytes(c, target, 8) },
						func() error { return v.Flush(target) }); err != nil {
						return err
					}
					if number(b) != number(c) {
						return fmt.Errorf("target %d: %d and %d under LockAll", target, number(b), number(c))
					}
				}
				if err := v.UnlockAll(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func first2(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
