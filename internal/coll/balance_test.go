package coll_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/world"
)

// pretended are cores on which a member stays where it was put.
type pretended struct {
	at      atomic.Int64
	allowed []int
	moves   int
}

func (p *pretended) Current() int { return int(p.at.Load()) }

func (p *pretended) Move(choose func([]int) int) {
	if core := choose(p.allowed); core >= 0 {
		p.at.Store(int64(core))
		p.moves++
	}
}

// pretend puts a member on a core of p, and returns when all members are placed: one that waits looks where the others are, and
// those that are not placed yet are on cores of the machine.
func pretend(w *world.World, p *pretended, placed *sync.WaitGroup) {
	w.Proc.Node().ShareCores(p, 2)
	coll.ShareCores(w.Comm, 2)
	placed.Done()
	placed.Wait()
}

// Members that are spread unevenly over the cores move until no core has two members more than
// another one that they may use, and no oftener than that takes. What binds a member holds.
func TestMembersSpreadOverCores(t *testing.T) {
	all := []int{4, 9}
	for _, x := range []struct {
		name    string
		at      []int64
		allowed [][]int
		want    []int // members on cores 4 and 9
		moves   int
	}{
		{"three and one", []int64{4, 9, 9, 9}, [][]int{all, all, all, all}, []int{2, 2}, 1},
		{"all on one", []int64{4, 4, 4, 4, 4, 4}, [][]int{all, all, all, all, all, all}, []int{3, 3}, 3},
		{"even", []int64{4, 9, 4, 9}, [][]int{all, all, all, all}, []int{2, 2}, 0},
		{"odd", []int64{4, 9, 4}, [][]int{all, all, all}, []int{2, 1}, 0},
		{"unknown", []int64{-1, -1, -1, -1}, [][]int{all, all, all, all}, []int{0, 0}, 0},
		{"bound", []int64{4, 4, 4, 4}, [][]int{{4}, {4}, {4}, {4}}, []int{4, 0}, 0},
		{"the last bound", []int64{4, 4, 4, 4}, [][]int{all, all, all, {4}}, []int{2, 2}, 2},
		{"all but the first bound", []int64{4, 4, 4, 4}, [][]int{all, {4}, {4}, {4}}, []int{3, 1}, 1},
	} {
		for _, near := range both {
			n := len(x.at)
			cores := make([]*pretended, n)
			var placed sync.WaitGroup
			placed.Add(n)
			run(t, near, n, slots(slot.Counter), func(w *world.World) error {
				p := &pretended{allowed: x.allowed[w.Comm.Rank]}
				p.at.Store(x.at[w.Comm.Rank])
				cores[w.Comm.Rank] = p
				pretend(w, p, &placed)
				for range 6 * coll.BalanceEvery {
					if err := w.Coll.Barrier(w.Comm); err != nil {
						return err
					}
				}
				return nil
			})
			if cores[0] == nil {
				continue // this build runs over another fabric
			}
			got, moves := []int{0, 0}, 0
			for _, p := range cores {
				if i := slices.Index(all, p.Current()); i >= 0 {
					got[i]++
				}
				moves += p.moves
			}
			if !slices.Equal(got, x.want) || moves != x.moves {
				t.Errorf("%s over %s: %v members are on the cores after %d moves, not %v after %d", x.name, near, got, moves, x.want, x.moves)
			}
		}
	}
}

// Members that exchange with their neighbours only spread over the cores, too.
func TestNeighborsSpreadOverCores(t *testing.T) {
	all := []int{4, 9}
	for _, near := range both {
		cores := make([]*pretended, 4)
		var placed sync.WaitGroup
		placed.Add(4)
		run(t, near, 4, slots(slot.Counter), func(w *world.World) error {
			me := w.Comm.Rank
			p := &pretended{allowed: all}
			p.at.Store(4)
			cores[me] = p
			pretend(w, p, &placed)
			list := []int{(me + 3) % 4, (me + 1) % 4}
			w.Comm.Neighbors = &comm.Neighbors{Sources: list, Dests: list}
			for range 6 * coll.BalanceEvery {
				a := coll.Args{Send: coll.Bytes(make([]byte, 2)), Recv: coll.Bytes(make([]byte, 2)), Width: 1}
				if err := w.Coll.Do(w.Comm, coll.NeighborAlltoall, &a); err != nil {
					return err
				}
			}
			return nil
		})
		if cores[0] == nil {
			continue // this build runs over another fabric
		}
		on4 := 0
		for _, p := range cores {
			if p.Current() == 4 {
				on4++
			}
		}
		if on4 != 2 {
			t.Errorf("over %s: %d of 4 members are on one of 2 cores", near, on4)
		}
	}
}

// Members that wait for messages spread over the cores, too.
func TestWaitersSpreadOverCores(t *testing.T) {
	all := []int{4, 9}
	for _, near := range both {
		cores := make([]*pretended, 4)
		var placed sync.WaitGroup
		placed.Add(4)
		run(t, near, 4, slots(slot.None), func(w *world.World) error {
			p := &pretended{allowed: all}
			p.at.Store(4)
			cores[w.Comm.Rank] = p
			w.Proc.Node().ShareCores(p, 2)
			for range 4 {
				if err := w.Coll.Barrier(w.Comm); err != nil { // through messages
					return err
				}
				if w.Comm.Rank == 0 {
					for range 10000 {
						runtime.Gosched() // the others wait
					}
				}
			}
			return nil
		})
		if cores[0] == nil {
			continue // this build runs over another fabric
		}
		on4 := 0
		for _, p := range cores {
			if p.Current() == 4 {
				on4++
			}
		}
		if on4 == 4 {
			t.Errorf("over %s: all members are still on one core", near)
		}
	}
}
