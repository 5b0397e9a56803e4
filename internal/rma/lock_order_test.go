package rma_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/world"
)

// RW-09, RS-03: epochs of one operation of each kind, short and long, beside long epochs that read
// and write: every sum is exact, no operation is carried out twice, and an epoch fetches what
// another has left.
func TestRW09_ShortEpochs(t *testing.T) {
	const words = 1000 // of a long operation, more than one frame of an epoch holds
	each(t, 4, func(w *world.World) error {
		n, me := w.Comm.Size(), w.Comm.Rank
		return inKinds(w, 8*(words+3), func(v *rma.View) error {
			g := rand.New(rand.NewPCG(uint64(me), 3))
			rounds := scaled(200)
			one, got, long := word(1), make([]byte, 8), make([]byte, 8*words)
			for i := range words {
				copy(long[8*i:], word(uint64(me)))
			}
			seen := uint64(0) // own additions to the second word of the next rank
			for k := range rounds {
				target := k % n
				next := (me + 1) % n
				steps := []func() error{
					func() error { return v.Lock(true, target, 0) },
					func() error { return nil },
					func() error { return v.Unlock(target) },
				}
				switch g.IntN(6) {
				case 0:
					steps[1] = func() error { return v.FetchAndOp(one, got, target, 0, op.Sum, op.Int64) }
				case 1:
					steps[1] = func() error { return v.Accumulate(mem.Of(one), target, 0, operation.Place{}, op.Sum, op.Int64) }
				case 2:
					steps[1] = func() error { return add(v, target, 0) }
				case 3: // all words alike, or the epoch of another was not alone
					if err := first(steps[0], func() error { return v.PutBytes(long, target, 24) }, steps[2]); err != nil {
						return err
					}
					all := make([]byte, len(long))
					if err := first(func() error { return v.Lock(false, target, 0) }, func() error { return v.GetBytes(all, target, 24) }, steps[2]); err != nil {
						return err
					}
					for i := range words {
						if x := number(all[8*i:]); x != number(all) {
							return fmt.Errorf("rank %d has %d first and %d in word %d", target, number(all), x, i)
						}
					}
					steps[1] = func() error { return add(v, target, 0) }
				case 4: // a word that nobody else changes
					if err := first(func() error { return v.Lock(true, next, 0) },
						func() error { return v.CompareAndSwap(word(seen+1), word(seen), got, next, 8, op.Int64) },
						func() error { return v.Unlock(next) }); err != nil {
						return err
					}
					if number(got) != seen {
						return fmt.Errorf("the word that only rank %d changes is %d, want %d", me, number(got), seen)
					}
					seen++
					fallthrough
				default:
					steps[1] = func() error {
						return v.GetAccumulate(mem.Of(one), mem.Of(got), target, 0, operation.Place{}, op.Sum, op.Int64)
					}
				}
				if err := first(steps...); err != nil {
					return err
				}
			}
			if err := barrier(w); err != nil {
				return err
			}
			sum := uint64(0)
			for target := range n {
				if err := first(func() error { return v.Lock(false, target, 0) },
					func() error { return v.GetBytes(got, target, 0) },
					func() error { return v.Unlock(target) }); err != nil {
					return err
				}
				sum += number(got)
			}
			if want := uint64(n * rounds); sum != want {
				return fmt.Errorf("the sum is %d, want %d", sum, want)
			}
			return barrier(w)
		})
	})
}

// RW-09, RS-03: a process that locks two targets gets the locks in the order of its calls, whatever
// it does in the epochs: processes that keep to one order all make progress.
func TestRW09_LocksKeepTheirOrder(t *testing.T) {
	defer awake(t)()
	each(t, 4, func(w *world.World) error {
		me := w.Comm.Rank
		return inKinds(w, 64, func(v *rma.View) error {
			if me < 2 {
				for range scaled(30) {
					second := func() error { return v.Flush(3) }
					if me == 0 {
						second = func() error { return v.PutBytes(word(1), 3, 0) }
					}
					steps := []func() error{
						func() error { return v.Lock(true, 2, 0) },
						func() error { return v.Lock(true, 3, 0) },
						second,
						func() error { return v.Flush(3) },
						func() error { w.Proc.Yield(); return v.PutBytes(word(1), 2, 0) },
						func() error { return v.Flush(2) },
						func() error { return v.Unlock(3) },
						func() error { return v.Unlock(2) },
					}
					if me == 1 {
						steps[0] = func() error { return hold(v, true, 2) }
					}
					if err := first(steps...); err != nil {
						return err
					}
				}
			}
			return barrier(w)
		})
	})
}

// RS-03, TH-01: a goroutine that locks waits for no epoch of another goroutine, not even for a lock
// which that has not got yet and waits for later.
func TestRS03_GoroutinesLockBesideEachOther(t *testing.T) {
	defer awake(t)()
	on(t, "tcp", 4, func(w *world.World) error { // elsewhere Lock itself waits
		me := w.Comm.Rank
		return inKinds(w, 64, func(v *rma.View) error {
			for range scaled(20) {
				if me == 0 {
					if err := hold(v, true, 2); err != nil {
						return err
					}
				}
				if err := barrier(w); err != nil {
					return err
				}
				opened, resume, ended := make(chan error, 1), make(chan struct{}), make(chan error, 1)
				if me == 1 {
					go func() {
						opened <- first(func() error { return v.Lock(true, 2, 0) }, func() error { return v.PutBytes(word(1), 2, 8) })
						<-resume
						ended <- v.Unlock(2)
					}()
					if err := first(func() error { return <-opened },
						func() error { return v.Lock(true, 3, 0) },
						func() error { return v.PutBytes(word(1), 3, 0) },
						func() error { return v.Flush(3) },
						func() error { return v.Unlock(3) }); err != nil {
						return err
					}
					close(resume)
				}
				if err := barrier(w); err != nil { // rank 0 has its lock until here
					return err
				}
				if me == 0 {
					if err := v.Unlock(2); err != nil {
						return err
					}
				}
				if me == 1 {
					if err := <-ended; err != nil {
						return err
					}
				}
				if err := barrier(w); err != nil { // else rank 0 may lock again before rank 1 has
					return err
				}
			}
			return nil
		})
	})
}
