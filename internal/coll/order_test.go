package coll_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/world"
)

// 6.9.1: an allreduce gives the same bits on all ranks, every time, whatever the
// rounding, the NaNs and the zeros; both forms of a slot give the same.
func TestAllreduceIsBitwiseIdentical(t *testing.T) {
	const count, rounds = 30, 8
	results := map[string][]byte{} // of the slots, by ranks and element type
	for _, f := range forms() {
		for _, n := range []int{2, 3, 5, 8} {
			var mu sync.Mutex
			got := make([][]byte, n)
			run(t, "inproc", n, f.f, func(w *world.World) error {
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
						if err := w.Coll.Allreduce(w.Comm, send, recv, o, typ); err != nil {
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
			if f.f.Slot == coll.SlotCells || f.f.Slot == coll.SlotCounter {
				key := fmt.Sprint(n)
				if before, ok := results[key]; ok && !bytes.Equal(before, got[0]) {
					t.Errorf("the forms of a slot differ on %d ranks", n)
				}
				results[key] = got[0]
			}
		}
	}
}

// 6.12: any number of nonblocking collectives may be outstanding on a
// communicator, mixed with blocking ones, and be waited for in any order.
func TestManyOutstanding(t *testing.T) {
	const many = 60
	for _, n := range []int{2, 3, 5} {
		run(t, "inproc", n, coll.Forced{}, func(w *world.World) error {
			c, e, p := w.Comm, w.Coll, w.Proc
			var waits []func() error
			own := rand.New(rand.NewPCG(uint64(c.Rank), 9)) // another order on every rank
			g := rand.New(rand.NewPCG(4, uint64(n)))
			for id := range many {
				size := 8 * []int{1, 40, 3000, 20000}[g.IntN(4)]
				root, kind := g.IntN(n), g.IntN(4)
				send := contribution(op.Int64, size/8, c.Rank, uint64(id))
				recv := make([]byte, size)
				var want []byte
				p.Lock()
				var r *p2p.Request
				switch kind {
				case 0:
					r = e.Ibarrier(c)
				case 1:
					want = contribution(op.Int64, size/8, root, uint64(id))
					if c.Rank == root {
						copy(recv, want)
					}
					r = e.Ibcast(c, recv, root)
				case 2:
					want = oracle(op.Sum, op.Int64, size/8, n, uint64(id))
					r = e.Iallreduce(c, send, recv, op.Sum, op.Int64)
				case 3:
					recv = make([]byte, n*size)
					if c.Rank == root {
						for k := range n {
							want = append(want, contribution(op.Int64, size/8, k, uint64(id))...)
						}
					}
					r = e.Igather(c, send, recv, root)
				}
				p.Unlock()
				waits = append(waits, func() error {
					p.Lock()
					defer p.Unlock()
					w.P2P.Wait(r)
					if err := w.P2P.Take(r).Err; err != nil {
						return err
					}
					if want != nil && !bytes.Equal(recv, want) {
						return fmt.Errorf("collective %d of kind %d on rank %d of %d is wrong", id, kind, c.Rank, n)
					}
					return nil
				})
				if g.IntN(5) == 0 { // through the slot, past those outstanding
					if err := everything(w, c, uint64(id), 1); err != nil {
						return err
					}
				}
			}
			own.Shuffle(len(waits), func(i, j int) { waits[i], waits[j] = waits[j], waits[i] })
			for _, wait := range waits {
				if err := wait(); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Several goroutines of each process use communicators of their own.
func TestGoroutinesOnTheirCommunicators(t *testing.T) {
	const goroutines = 4
	for _, fabric := range []string{"inproc", "shm"} {
		for _, f := range []form{{"auto", coll.Forced{}}, {"counter", coll.Forced{Slot: coll.SlotCounter}}, {"messages", coll.Forced{Slot: coll.SlotNone}}} {
			run(t, fabric, 3, f.f, func(w *world.World) error {
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
