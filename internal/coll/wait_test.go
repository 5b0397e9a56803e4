package coll_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// Waiters that sleep are woken, whichever member comes last, and however late.
func TestSleepersAreWoken(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, f := range []slot.Form{slot.Cells, slot.Counter, slot.None} {
			run(t, fabric, 4, slots(f), func(w *world.World) error {
				for step := range 24 {
					if w.Comm.Rank == step%4 {
						time.Sleep(2 * time.Millisecond)
					}
					if err := everything(w, w.Comm, uint64(step), 1); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// While a process waits in a slot it makes progress on other communication: here the last member
// enters the barrier only after messages of the waiting ones.
func TestWaitingInSlotMakesProgress(t *testing.T) {
	const size = 300 << 10
	for _, fabric := range []string{"inproc", "shm"} {
		for _, f := range []slot.Form{slot.Cells, slot.Counter} {
			run(t, fabric, 3, slots(f), func(w *world.World) error {
				c := w.Comm
				buf := make([]byte, size)
				if c.Rank != 2 {
					w.Proc.Lock()
					s := w.P2P.Isend(&p2p.Envelope{Comm: c, Ctx: c.Ctx, Peer: 2, Tag: 1}, mem.Of(buf))
					w.Proc.Unlock()
					if err := w.Coll.Barrier(c); err != nil {
						return err
					}
					w.Proc.Lock()
					defer w.Proc.Unlock()
					w.P2P.Wait(s)
					return w.P2P.Take(s)
				}
				for r := range 2 {
					var s p2p.Status
					w.P2P.Recv(c, buf, r, 1, &s)
					if s.Err != nil || s.Bytes != size {
						return fmt.Errorf("received %d bytes: %v", s.Bytes, s.Err)
					}
				}
				return w.Coll.Barrier(c)
			})
		}
	}
}

// A repeated collective allocates nothing, in any form; nor does a persistent one that is
// started again.
func TestRepeatedCollectivesDoNotAllocate(t *testing.T) {
	for _, f := range forms() {
		wantNoAllocations(t, "inproc", 3, f)
	}
}

// wantNoAllocations repeats collectives of a form on n ranks.
func wantNoAllocations(t *testing.T, fabric string, n int, f form) {
	testrun.PlainOnly(t, "it allocates")
	const runs = 50 // the runtime itself allocates at times
	for _, size := range []int{24, 6 << 10, 160 << 10} {
		run(t, fabric, n, f.c, func(w *world.World) error {
			var err error
			check := func(x error) {
				if err == nil {
					err = x
				}
			}
			var list []*task
			var started []*p2p.Request
			for _, k := range f.kinds {
				list = append(list, plain(w.Comm, k, size))
				if slices.Contains(moving, k) {
					list = append(list, onLayouts(plain(w.Comm, k, size)))
				}
			}
			for _, t := range list {
				r, x := t.start(w, coll.Persistent)
				check(x)
				started = append(started, r)
			}
			barrier := plain(w.Comm, coll.Barrier, 0)
			step := func() {
				for _, t := range list {
					check(t.block(w))
					check(barrier.block(w))
				}
				for _, r := range started {
					restart(w, r)
					check(finish(w, r))
					check(barrier.block(w))
				}
			}
			for range 20 { // fills the pools
				step()
			}
			if w.Comm.Rank != 0 {
				for range runs + 1 {
					step()
				}
				return err
			}
			if a := testing.AllocsPerRun(runs, step); a >= 1 {
				return fmt.Errorf("%s over %s: %v allocations for %d collectives of %d bytes", f.name, fabric, a, 2*len(list), size)
			}
			return err
		})
	}
}
