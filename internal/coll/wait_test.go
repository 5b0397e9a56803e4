package coll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/world"
)

// Waiters that sleep are woken, whoever comes last and however late.
func TestSleepersAreWoken(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, f := range []coll.SlotForm{coll.SlotCells, coll.SlotCounter, coll.SlotNone} {
			run(t, fabric, 4, coll.Forced{Slot: f}, func(w *world.World) error {
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

// While a process waits in a slot it takes part in everything else: here the
// last one comes only after messages through the waiting ones.
func TestWaitingInSlotMakesProgress(t *testing.T) {
	const size = 300 << 10
	for _, fabric := range []string{"inproc", "shm"} {
		for _, f := range []coll.SlotForm{coll.SlotCells, coll.SlotCounter} {
			run(t, fabric, 3, coll.Forced{Slot: f}, func(w *world.World) error {
				c := w.Comm
				buf := make([]byte, size)
				if c.Rank != 2 {
					w.Proc.Lock()
					s := w.P2P.Isend(c, c.Ctx, p2p.Standard, buf, 2, 1)
					w.Proc.Unlock()
					if err := w.Coll.Barrier(c); err != nil {
						return err
					}
					w.Proc.Lock()
					defer w.Proc.Unlock()
					w.P2P.Wait(s)
					return w.P2P.Take(s).Err
				}
				for r := range 2 {
					var s p2p.Status
					if w.P2P.Recv(c, buf, r, 1, &s); s.Err != nil || s.Bytes != size {
						return fmt.Errorf("received %d bytes: %v", s.Bytes, s.Err)
					}
				}
				return w.Coll.Barrier(c)
			})
		}
	}
}

// A collective that is repeated allocates nothing, in any form.
func TestRepeatedCollectivesDoNotAllocate(t *testing.T) {
	const runs, n = 20, 3
	for _, f := range forms() {
		for _, size := range []int{8, 6 << 10, 160 << 10} {
			run(t, "inproc", n, f.f, func(w *world.World) error {
				c, e := w.Comm, w.Coll
				send, recv := make([]byte, size), make([]byte, size)
				all := make([]byte, n*size)
				var err error
				check := func(x error) {
					if err == nil {
						err = x
					}
				}
				step := func() {
					check(e.Barrier(c))
					check(e.Bcast(c, recv, 1))
					check(e.Reduce(c, send, recv, op.Sum, op.Float64, 2))
					check(e.Allreduce(c, send, recv, op.Sum, op.Float64))
					check(e.Gather(c, send, all, 0))
					check(e.Barrier(c))
				}
				for range 5 {
					step()
				}
				if c.Rank != 0 {
					for range runs + 1 {
						step()
					}
					return err
				}
				if a := testing.AllocsPerRun(runs, step); a >= 1 {
					return fmt.Errorf("%s: %v allocations for 6 collectives of %d bytes", f.name, a, size)
				}
				return err
			})
		}
	}
}
