package coll_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/world"
)

// 7.4.2: communicators can be made and freed without end, with contexts that
// never come back.
func TestDupAndFreeWithoutEnd(t *testing.T) {
	const cycles = 10000
	run(t, "inproc", 3, auto(), func(w *world.World) error {
		last := uint64(0)
		for i := range cycles {
			c, err := w.Coll.Dup(w.Comm)
			if err != nil {
				return err
			}
			if c.Ctx <= last {
				return fmt.Errorf("cycle %d: context %#x after %#x", i, c.Ctx, last)
			}
			last = c.Ctx
			if i%16 == 0 {
				if err := everything(w, c, uint64(i), 1); err != nil {
					return err
				}
			}
			w.Coll.Free(c)
		}
		return nil
	})
}

// 7.4.2: the groups of a split are those of equal colour, ordered by key and
// then by rank; members with Undefined get none.
func TestSplit(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for n := 1; n <= 9; n++ {
			if fabric != "inproc" && n > 5 {
				break
			}
			run(t, fabric, n, auto(), func(w *world.World) error {
				for k := range 12 {
					color := func(r int) int {
						if (r+k)%4 == 3 {
							return coll.Undefined
						}
						return (r * (k + 1)) % 3
					}
					key := func(r int) int { return (r*7+k)%4 - 2 }
					me := w.Comm.Rank
					c, err := w.Coll.Split(w.Comm, color(me), key(me))
					if err != nil {
						return err
					}
					if color(me) == coll.Undefined {
						if c != nil {
							return fmt.Errorf("rank %d gave Undefined and got a communicator", me)
						}
						continue
					}
					var want []int32
					for r := range n {
						if color(r) == color(me) {
							want = append(want, int32(r))
						}
					}
					slices.SortStableFunc(want, func(a, b int32) int { return key(int(a)) - key(int(b)) })
					if !slices.Equal(c.Members, want) || c.Members[c.Rank] != int32(me) {
						return fmt.Errorf("rank %d of %d: members %v at rank %d, want %v", me, n, c.Members, c.Rank, want)
					}
					if err := everything(w, c, uint64(k), 4); err != nil {
						return err
					}
					d, err := w.Coll.Dup(c)
					if err != nil {
						return err
					}
					w.Coll.Free(c)
					if err := everything(w, d, uint64(k), 2); err != nil {
						return err
					}
					w.Coll.Free(d)
				}
				return nil
			})
		}
	}
}

// When all slots are taken, further communicators use messages; a slot that was
// freed is used again.
func TestMoreCommunicatorsThanSlots(t *testing.T) {
	run(t, "inproc", 3, auto(), func(w *world.World) error {
		for range 2 {
			var list []*comm.Comm
			with := 0
			for i := range shmfmt.SlotCount + 5 {
				c, err := w.Coll.Dup(w.Comm)
				if err != nil {
					return err
				}
				if coll.HasSlot(c) {
					with++
				}
				list = append(list, c)
				if err := everything(w, c, uint64(i), 2); err != nil {
					return err
				}
			}
			if with != shmfmt.SlotCount-1 {
				return fmt.Errorf("%d communicators have a slot, want %d", with, shmfmt.SlotCount-1)
			}
			for i, c := range list {
				if err := everything(w, c, uint64(i), 1); err != nil {
					return err
				}
				w.Coll.Free(c)
			}
			if err := w.Coll.Barrier(w.Comm); err != nil { // all have freed all
				return err
			}
		}
		return nil
	})
}
