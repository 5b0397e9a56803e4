package rma_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/world"
)

// hangAfter is after how long a rank that still sleeps is taken to do so for ever: hundreds
// of times what these tests take.
const hangAfter = 30 * time.Second

// awake ends the process if the test is not over when it has to be. It is there because a
// rank that misses its wake-up cannot fail by itself.
func awake(t *testing.T) (over func() bool) {
	name := t.Name()
	return time.AfterFunc(hangAfter, func() { panic(name + ": a rank sleeps, and nobody wakes it") }).Stop
}

// letOthersSleep lets another rank fall asleep. Nothing depends on that it does.
func letOthersSleep() { time.Sleep(2 * time.Millisecond) }

// RS-02, X-RMA-17: who waits for a post in Complete, because operations were deferred, is
// woken by the post; and who waits in Wait by the end of the epoch.
func TestRS02_PostsAndEndsWake(t *testing.T) {
	defer awake(t)()
	each(t, 2, func(w *world.World) error {
		return inKinds(w, 64, func(v *rma.View) error {
			for turn := range 6 {
				var err error
				if w.Comm.Rank == 0 {
					err = v.Start([]int32{1}, 0)
					if turn%2 == 1 {
						letOthersSleep()
					}
					err = errors.Join(err, v.PutBytes(int64s(int64(turn)), 1, 0), v.Complete())
				} else {
					if turn%2 == 0 {
						letOthersSleep()
					}
					err = errors.Join(v.Post([]int32{0}, 0), v.Wait())
				}
				if err != nil {
					return err
				}
			}
			return barrier(w)
		})
	})
}

// RS-03: who waits for a lock is woken by who gives it back, whatever comes between a look
// and sleep.
func TestRS03_LocksWake(t *testing.T) {
	defer awake(t)()
	each(t, 4, func(w *world.World) error {
		return inKinds(w, 64, func(v *rma.View) error {
			for turn := range scaled(300) {
				if err := v.Lock(true, 0, 0); err != nil {
					return err
				}
				if turn%64 == w.Comm.Rank {
					letOthersSleep()
				}
				if err := v.Unlock(0); err != nil {
					return err
				}
			}
			return barrier(w)
		})
	})
}

// RS-03: all who wait to share a lock have it together when it is given back: they may wait
// for each other while they have it.
func TestRS03_ReadersWakeTogether(t *testing.T) {
	defer awake(t)()
	each(t, 4, func(w *world.World) error {
		return inKinds(w, 64, func(v *rma.View) error {
			for range 4 {
				if w.Comm.Rank == 0 {
					if err := hold(v, true, 0); err != nil {
						return err
					}
				}
				if err := barrier(w); err != nil { // the lock is taken
					return err
				}
				if w.Comm.Rank == 0 {
					letOthersSleep() // the others ask for it
					if err := v.Unlock(0); err != nil {
						return err
					}
				} else if err := hold(v, false, 0); err != nil {
					return err
				}
				if err := barrier(w); err != nil { // the readers have it
					return err
				}
				if w.Comm.Rank != 0 {
					if err := v.Unlock(0); err != nil {
						return err
					}
				}
			}
			return barrier(w)
		})
	})
}

// EX-05: who waits for a counter is woken by who counts, each in turn.
func TestCountersWake(t *testing.T) {
	defer awake(t)()
	each(t, 2, func(w *world.World) error {
		me := w.Comm.Rank
		return inKinds(w, 64, func(v *rma.View) error {
			if err := errors.Join(v.MakeCounters(1), barrier(w)); err != nil {
				return err
			}
			for turn := range 6 {
				if turn%2 == me {
					letOthersSleep()
					if err := v.Signal(1-me, 0); err != nil {
						return err
					}
					continue
				}
				r, err := v.Await(rma.Threshold{Call: "Await", Counter: 0, Reach: 1, Take: 1})
				if err == nil {
					err = wait(w, r)
				}
				if err != nil {
					return fmt.Errorf("turn %d: %w", turn, err)
				}
			}
			return barrier(w)
		})
	})
}
