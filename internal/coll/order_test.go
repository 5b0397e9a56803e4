package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/world"
)

// 6.9.1: an allreduce gives the same bits on all ranks, each time, also with rounding, NaNs and
// signed zeros. Both forms of a slot give the same.
func TestAllreduceIsBitwiseIdentical(t *testing.T) {
	const count, rounds = 30, 8
	results := map[string][]byte{} // results through slots, by the number of ranks
	for _, f := range forms() {
		for _, n := range []int{2, 3, 5, 8} {
			var mu sync.Mutex
			got := make([][]byte, n)
			run(t, "inproc", n, f.c, func(w *world.World) error {
				var all []byte
				for k := range rounds {
					typ := []op.Type{op.Float32, op.Float64, op.Complex64, op.Complex128}[k%4]
					o := []op.Op{op.Sum, op.Prod, op.Min, op.Max}[k/4%2+(1-k%4/2)*2*(k/4)]
					if op.Check(o, typ) != nil {
						o = op.Sum
					}
					send := wild(typ, count, w.Comm.Rank, k)
					recv := make([]byte, len(send))
					for range 2 {
						if err := w.Coll.Allreduce(w.Comm, send, recv, o, typ, dtype.Mixed); err != nil {
							return err
						}
						all = append(all, recv...)
					}
				}
				mu.Lock()
				got[w.Comm.Rank] = all
				mu.Unlock()
				return nil
			})
			for r := range got {
				if !bytes.Equal(got[0], got[r]) {
					t.Errorf("%s: ranks 0 and %d of %d differ", f.name, r, n)
				}
			}
			if f.c.Slot == slot.Cells || f.c.Slot == slot.Counter {
				key := fmt.Sprint(n)
				if before, ok := results[key]; ok && !bytes.Equal(before, got[0]) {
					t.Errorf("the forms of a slot differ on %d ranks", n)
				}
				results[key] = got[0]
			}
		}
	}
}

// 6.12: any number of nonblocking collectives may be outstanding on a communicator, mixed with
// blocking ones, and be completed in any order. Persistent collectives may be started in any
// order (6.13).
func TestManyOutstanding(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for _, n := range []int{2, 3, 5} {
			run(t, fabric, n, auto(), func(w *world.World) error {
				own := rand.New(rand.NewPCG(uint64(w.Comm.Rank), 9)) // a different order on each rank
				g := rand.New(rand.NewPCG(4, uint64(n)))
				var list []*task
				var requests []*p2p.Request
				persistent := make(map[int]bool)
				const many = 40
				for i := range many {
					list = append(list, newTask(w.Comm, coll.Kind(g.IntN(coll.Kinds)), g, 4000))
					persistent[i] = g.IntN(3) == 0
					list[i].load(uint64(i))
					var r *p2p.Request
					var err error
					if persistent[i] {
						r, err = list[i].start(w, coll.Persistent)
					} else {
						r, err = list[i].start(w, coll.Nonblocking)
						if g.IntN(5) == 0 && err == nil {
							err = everything(w, w.Comm, uint64(i), 1) // while others are outstanding
						}
					}
					if err != nil {
						return err
					}
					requests = append(requests, r)
				}
				for _, i := range own.Perm(many) {
					if persistent[i] {
						restart(w, requests[i])
					}
				}
				for _, i := range own.Perm(many) {
					if err := finish(w, requests[i]); err != nil {
						return fmt.Errorf("%d, %v: %w", i, list[i], err)
					}
					if err := list[i].verify(uint64(i)); err != nil {
						return fmt.Errorf("%d: %w", i, err)
					}
				}
				return nil
			})
		}
	}
}

// Several goroutines of each process use a communicator each.
func TestGoroutinesOnTheirCommunicators(t *testing.T) {
	const goroutines = 4
	for _, fabric := range []string{"inproc", "shm"} {
		for _, f := range []form{{"auto", auto(), nil}, {"counter", slots(slot.Counter), nil}, {"messages", slots(slot.None), nil}} {
			run(t, fabric, 3, f.c, func(w *world.World) error {
				var all sync.WaitGroup
				errs := make([]error, goroutines)
				for i := range goroutines {
					c, err := w.Coll.Dup(w.Comm)
					if err != nil {
						return err
					}
					all.Go(func() {
						errs[i] = everything(w, c, uint64(i), 25)
						w.Coll.Free(c)
					})
				}
				all.Wait()
				if i := slices.IndexFunc(errs, func(e error) bool { return e != nil }); i >= 0 {
					return errs[i]
				}
				return nil
			})
		}
	}
}
