package rma_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	numbers "github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/rma"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// awake ends the process if the test hangs. A rank that misses its wake-up cannot fail by itself.
func awake(t *testing.T) (over func()) {
	return testrun.Watch(t.Name() + ": a rank sleeps, and nobody wakes it")
}

// letOthersSleep gives another rank time to fall asleep. Nothing depends on it.
func letOthersSleep() { time.Sleep(2 * time.Millisecond) }

// RS-02, X-RMA-17: a post wakes an origin that waits for it in Complete, because operations were
// deferred; and the end of the epoch wakes a target that waits in Wait.
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

// RS-03: the release of a lock wakes a process that waits for it, whatever comes between its look
// and its sleep.
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

// RS-03: all processes that wait for a shared lock get it together when it is released: they may
// wait for each other while they hold it.
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

// Counting wakes a process that waits for a counter, each in turn.
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
				r, err := v.Await(rma.Threshold{Call: numbers.Access, Counter: 0, Reach: 1, Take: 1})
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
