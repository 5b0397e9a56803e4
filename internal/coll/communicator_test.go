package coll_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/world"
)

// 7.4.2: communicators can be made and freed without limit: contexts are never used again, slots
// are free again each time, and memory does not grow.
func TestDupAndFreeWithoutEnd(t *testing.T) {
	for fabric, cycles := range map[string]int{"inproc": 100_000, "shm": 20_000, "tcp": 10_000} {
		if testrun.Race {
			cycles /= 20
		}
		run(t, fabric, 3, auto(), func(w *world.World) error {
			var early uint64
			made := make(map[uint64]bool, cycles)
			for i := range cycles {
				c, err := w.Coll.Dup(w.Comm)
				if err != nil {
					return err
				}
				if made[c.Ctx] {
					return fmt.Errorf("cycle %d: context %#x a second time", i, c.Ctx)
				}
				if fabric != "tcp" && !coll.HasSlot(c) {
					return fmt.Errorf("cycle %d: all slots are taken", i)
				}
				made[c.Ctx] = true
				if i%16 == 0 {
					if err := everything(w, c, uint64(i), 1); err != nil {
						return err
					}
				}
				w.Coll.Free(c)
				if i == cycles/10 {
					early, err = heap(w)
					if err != nil {
						return err
					}
				}
			}
			late, err := heap(w)
			if err != nil {
				return err
			}
			// The pools of requests and buffers may still grow a little.
			if late > early+4<<20 {
				return fmt.Errorf("%s: %d bytes in use after %d communicators, %d after a tenth", fabric, late, cycles, early)
			}
			return slotsFree(w)
		})
	}
}

// heap returns the memory that the process uses while no member makes a communicator.
func heap(w *world.World) (uint64, error) {
	if err := w.Coll.Barrier(w.Comm); err != nil {
		return 0, err
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, w.Coll.Barrier(w.Comm)
}

// slotsFree fails if a slot other than the world's is not free.
func slotsFree(w *world.World) error {
	if err := w.Coll.Barrier(w.Comm); err != nil || w.Proc.Node() == nil {
		return err
	}
	for i := coll.WorldSlot + 1; i < shmfmt.SlotCount; i++ {
		s, err := w.Proc.Node().Control().OpenSlot(i)
		if err != nil {
			return err
		}
		if owner := s.Head().Owner.Load(); owner != 0 {
			return fmt.Errorf("slot %d still belongs to context %#x", i, owner)
		}
	}
	return w.Coll.Barrier(w.Comm)
}

// Each way to make a communicator takes a slot and frees it, also for a duplicate that is
// dropped as soon as it has been made, and with more communicators than slots.
func TestSlotsComeBack(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm"} {
		run(t, fabric, 4, auto(), func(w *world.World) error {
			var kept []*comm.Comm
			for round := range 40 {
				var list []*comm.Comm
				keep := func(c *comm.Comm, err error) error {
					if c != nil {
						list = append(list, c)
					}
					return err
				}
				pair := []int32{int32(round % 4), int32((round + 1) % 4)}
				if err := keep(w.Coll.Dup(w.Comm)); err != nil {
					return err
				}
				if err := keep(w.Coll.Split(w.Comm, w.Comm.Rank%2, round)); err != nil {
					return err
				}
				if err := keep(w.Coll.Create(w.Comm, pair)); err != nil {
					return err
				}
				if err := keep(w.Coll.CreateGroup(w.Comm, pair, int32(round))); err != nil {
					return err
				}
				idup, dropped := w.Coll.Blank(w.Comm), w.Coll.Blank(w.Comm)
				w.Proc.Lock()
				r := w.Coll.Idup(w.Comm, idup, func() error { list = append(list, idup); return nil })
				w.P2P.Release(w.Coll.Idup(w.Comm, dropped, func() error { w.Coll.Drop(dropped); return nil }))
				w.P2P.Wait(r)
				err := w.P2P.Take(r)
				w.Proc.Unlock()
				if err != nil {
					return err
				}
				for _, c := range list {
					if err := everything(w, c, uint64(round), 1); err != nil {
						return err
					}
				}
				// At times there are more communicators than slots.
				kept = append(kept, list...)
				if round%20 == 19 {
					for _, c := range kept {
						w.Coll.Free(c)
					}
					kept = nil
					if err := slotsFree(w); err != nil {
						return fmt.Errorf("round %d: %w", round, err)
					}
				}
			}
			return nil
		})
	}
}

// F1: a split ends at all members when a member dies, also at a member whose new group is alive:
// the first member of that group may have left because of the death.
func TestF1_DeathAmidSplit(t *testing.T) {
	var over sync.WaitGroup
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp") {
		over.Add(1)
		err := world.RunGoroutines(fabric, 3, func(w *world.World) error {
			if w.Comm.Rank == 1 {
				defer over.Done()
				_, err := w.Coll.Split(w.Comm, 0, 0)
				return want(err, class.ProcFailed)
			}
			// The other members take part in the allgather as Split does, with color 0 for ranks
			// 0 and 1, and 1 for rank 2. Then rank 2 dies, and rank 0 does not go on.
			mine, all := make([]byte, 16), make([]byte, 48)
			mine[0] = byte(w.Comm.Rank / 2)
			w.Proc.Lock()
			r, err := w.Coll.Start(w.Comm, coll.Allgather, coll.Nonblocking, &coll.Args{Send: coll.Bytes(mine), Recv: coll.Bytes(all), Width: 1})
			if err == nil {
				w.P2P.Wait(r)
				err = w.P2P.Take(r)
			}
			w.Proc.Unlock()
			if err != nil {
				return err
			}
			if w.Comm.Rank == 2 {
				return errLeaves
			}
			over.Wait()
			return nil
		})
		if !errors.Is(err, errLeaves) {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// want returns an error unless err has the class.
func want(err error, c class.Class) error {
	var e *class.Error
	if !errors.As(err, &e) || e.Class != c {
		return fmt.Errorf("error is %v, want class %d", err, c)
	}
	return nil
}

// S6: a context from another process is accepted only if that process can have made it.
func TestS6_ForgedContexts(t *testing.T) {
	run(t, "inproc", 2, auto(), func(w *world.World) error {
		w.Proc.Lock()
		defer w.Proc.Unlock()
		predefined := []uint64{w.Proc.WorldContext(), w.Proc.SelfContext(), w.Proc.LastContext()}
		for serial := range uint64(8) {
			ctx, ok := w.Proc.ContextOf(0, serial)
			if ok != (serial > 3) || ok && slices.Contains(predefined, ctx) {
				return fmt.Errorf("context %d passes for one that process 0 has made: %t, %#x", serial, ok, ctx)
			}
		}
		me := w.Comm.Rank
		serial, ctx := w.Proc.NewContext(false)
		own, _ := w.Proc.ContextOf(me, serial)
		other, _ := w.Proc.ContextOf(1-me, serial)
		if ctx != own || ctx == other || ctx%proc.ContextStep != 0 {
			return fmt.Errorf("context %d of process %d is %#x here, %#x elsewhere, and %#x of process %d", serial, me, ctx, own, other, 1-me)
		}
		return nil
	})
}

// 7.4.2: the groups of a split have equal colour, ordered by key and then by rank. Members with
// Undefined get no communicator.
func TestSplit(t *testing.T) {
	times := 12
	if testrun.Race {
		times = 4
	}
	for _, fabric := range []string{"inproc", "shm", "tcp"} {
		for n := 1; n <= 9; n++ {
			if fabric != "inproc" && n > 5 {
				break
			}
			run(t, fabric, n, auto(), func(w *world.World) error {
				for k := range times {
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

// When all slots are taken, further communicators use messages. A slot that was freed is used
// again.
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
			if err := w.Coll.Barrier(w.Comm); err != nil { // all members have freed all communicators
				return err
			}
		}
		return nil
	})
}
