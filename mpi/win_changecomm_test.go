package mpi_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// among makes a communicator of some ranks of c in that order, nil in others.
func among(t testing.TB, c *mpi.Comm, ranks ...int) *mpi.Comm {
	t.Helper()
	color, key := mpi.Undefined, slices.Index(ranks, c.Rank())
	if key >= 0 {
		color = 0
	}
	d, err := c.Split(color, key)
	ok(t, err)
	return d
}

// member is a process in a window that changes, possibly with memory.
type member struct {
	win *mpi.Window // nil outside
	mem []int64     // nil if it has none in the window
}

// exchange has all members write to all members with memory, in epochs of every kind, and checks
// that the data arrives at the ranks of c.
func (m *member) exchange(t testing.TB, c *mpi.Comm) {
	t.Helper()
	me, n := c.Rank(), c.Size()
	where := int64(-1) // puts to it are not possible
	if m.mem != nil {
		where = 0
		if m.win.Flavor() == mpi.WinFlavorDynamic {
			where = mpi.Address(m.mem)
		}
	}
	base, err := mpi.AllgatherOne(c, where)
	ok(t, err)
	group, err := m.win.Group()
	ok(t, err)
	same, err := c.Group()
	ok(t, err)
	if r := must(group.Compare(same)); r != mpi.Ident {
		t.Fatalf("the window's group is %v", r)
	}
	unit := int64(1)
	if m.win.Flavor() == mpi.WinFlavorDynamic {
		unit = 8
	}
	put := func(v int64) {
		for r, b := range base {
			if b >= 0 {
				d := must(mpi.TypeOf[int64]())
				ok(t, m.win.Untyped().Put(mpi.Buf([]int64{v + int64(me)}), r, b+unit*int64(me), 1, d))
			}
		}
	}
	arrived := func(what string, v int64) {
		t.Helper()
		for r := range n {
			if m.mem != nil && m.mem[r] != v+int64(r) {
				t.Fatalf("%s among %d: from rank %d %d, want %d", what, n, r, m.mem[r], v+int64(r))
			}
		}
	}
	ok(t, m.win.Fence(0))
	put(100)
	ok(t, m.win.Fence(0))
	arrived("fence", 100)
	for round := range int64(2) {
		ok(t, m.win.Post(group, 0))
		ok(t, m.win.Start(group, 0))
		put(200 + 10*round)
		ok(t, m.win.Complete())
		ok(t, m.win.Wait())
		arrived("post and start", 200+10*round)
		ok(t, c.Barrier())
	}
	for r := range n {
		ok(t, m.win.Lock(mpi.LockExclusive, r, 0))
		if base[r] >= 0 {
			ok(t, m.win.Untyped().Put(mpi.Buf([]int64{300 + int64(me)}), r, base[r]+unit*int64(me), 1, must(mpi.TypeOf[int64]())))
		}
		ok(t, m.win.Unlock(r))
	}
	ok(t, c.Barrier())
	arrived("locks", 300)
	ok(t, c.Barrier())
	ok(t, m.win.LockAll(0))
	put(400)
	ok(t, m.win.UnlockAll())
	ok(t, c.Barrier())
	arrived("LockAll", 400)
	ok(t, c.Barrier())
}

// Windows grow, shrink and get their processes under other ranks, at random: after each change
// all members access all others in epochs of every kind (SYN-35, E0-21). Processes that have
// left can come back. New members of a window without memory of the program have none in it, and members name different
// processes of both groups (E0-22).
func TestSYN35_WindowsChangeAtRandom(t *testing.T) {
	onWindows(t, func(t testing.TB, world *mpi.Comm) {
		for _, flavor := range []mpi.WinFlavor{mpi.WinFlavorCreate, mpi.WinFlavorAllocate, mpi.WinFlavorDynamic} {
			if testrun.Race && flavor != mpi.WinFlavorAllocate && strings.Contains(t.Name(), "/shm") {
				continue // see newSpace
			}
			g := rand.New(rand.NewPCG(35, uint64(flavor))) // the same at all ranks
			current := []int{0, 1, 2, 3}[:2]
			c := among(t, world, current...)
			m := &member{}
			if c != nil {
				var err error
				switch flavor {
				case mpi.WinFlavorCreate:
					m.mem = make([]int64, world.Size())
					w, failed := mpi.WinCreate(c, m.mem)
					m.win, err = w.Window, failed
				case mpi.WinFlavorAllocate:
					w, failed := mpi.WinAllocate[int64](c, world.Size())
					m.win, m.mem, err = w.Window, w.Local(), failed
				case mpi.WinFlavorDynamic:
					m.win, err = c.WinCreateDynamic()
					ok(t, err)
					m.mem = make([]int64, world.Size())
					err = mpi.Attach(m.win, m.mem)
				}
				ok(t, err)
				m.exchange(t, c)
			}
			for range rounds(30) {
				next := g.Perm(world.Size())[:1+g.IntN(world.Size())]
				stay := slices.DeleteFunc(slices.Clone(next), func(r int) bool { return !slices.Contains(current, r) })
				if len(stay) == 0 {
					continue
				}
				peer := slices.Index(next, stay[(g.IntN(len(stay))+world.Rank())%len(stay)])
				c = among(t, world, next...)
				if m.win == nil && c == nil {
					current = next
					continue
				}
				was := m.win
				var err error
				if was == nil && flavor == mpi.WinFlavorCreate {
					m.mem = make([]int64, world.Size())
					m.win, err = mpi.WinChangeCommMemory(c, peer, asBytes(m.mem), 8)
				} else {
					m.win, err = mpi.WinChangeComm(m.win, c, peer)
				}
				ok(t, err)
				switch {
				case c == nil:
					if m.win != nil {
						t.Fatal("who has left has a window")
					}
					refused(t, was.Fence(0), mpi.ErrWin, "window has been freed")
					m.mem = nil
				case was == nil && flavor == mpi.WinFlavorDynamic:
					m.mem = make([]int64, world.Size())
					ok(t, mpi.Attach(m.win, m.mem))
				case was == nil && flavor == mpi.WinFlavorAllocate && m.win.Bytes() != 0:
					t.Fatalf("a new member has %d bytes", m.win.Bytes())
				case was != nil && m.win != was:
					t.Fatal("who stays has another window")
				}
				if c != nil {
					m.exchange(t, c)
				}
				current = next
			}
			if m.win != nil {
				ok(t, m.win.Free())
			}
		}
	})
}

// Synchronisation objects remain valid (E0-21): new members can signal them, under other ranks,
// and a process may wait for one while the window changes.
func TestSYN35_ObjectsStayWithTheirProcess(t *testing.T) {
	onWindows(t, func(t testing.TB, world *mpi.Comm) {
		few := among(t, world, 0, 1)
		var w *mpi.Window
		var come mpi.Request
		mine := make([]mpi.Sync, 1)
		me := world.Rank()
		if few != nil {
			a, err := mpi.WinAllocate[int64](few, 4)
			ok(t, err)
			w = a.Window
			if me == 0 {
				mine, err = w.AllocSyncObjects(1, nil)
				ok(t, err)
				come = w.SyncObjectInit(mine[0], 5)
				ok(t, come.Start())
			}
		}
		ok(t, mpi.Bcast(world, mine, 0))
		var before mpi.Request
		if me == 1 {
			before = w.SyncOpsInit(0, mpi.ModeWinAll, mine[0])
			ok(t, before.Start())
			ok(t, second(before.Wait()))
		}
		all := among(t, world, 3, 2, 1, 0)
		w, err := mpi.WinChangeComm(w, all, 3)
		ok(t, err)
		if me == 1 {
			ok(t, before.Start())
			ok(t, second(before.Wait()))
		}
		if me != 0 { // the object is one of rank 3 now
			refused(t, unstarted(w.SyncOpsInit(0, 0, mine[0])), mpi.ErrRank, "is that of rank 3, not of 0")
			ok(t, w.LockAll(0))
			ok(t, w.Untyped().Put(mpi.Buf([]int64{int64(me)}), 3, int64(me), 1, must(mpi.TypeOf[int64]())))
			ok(t, w.Signal(3, mpi.ModeWinPut, mine[0]))
			ok(t, w.UnlockAll())
		} else {
			ok(t, second(come.Wait()))
			if got := (mpi.Win[int64]{Window: w}).Local(); !slices.Equal(got, []int64{0, 1, 2, 3}) {
				t.Fatalf("%v", got)
			}
		}
		ok(t, world.Barrier())
		rest := among(t, world, 1, 2, 3)
		w, err = mpi.WinChangeComm(w, rest, 0)
		ok(t, err)
		if me == 1 {
			ok(t, before.Start())
			refused(t, second(before.Wait()), mpi.ErrRank, "has left the window")
		}
		if me != 0 {
			ok(t, w.Free())
		}
	})
}

// If a member has an invalid argument, all get the error, and nothing has changed (E0-21,
// E0-22).
func TestSYN35_WhatCannotChange(t *testing.T) {
	mpitest.Run(t, 4, func(t testing.TB, world *mpi.Comm) {
		few := among(t, world, 0, 1, 2)
		var w *mpi.Window
		if few != nil {
			a, err := mpi.WinAllocate[int64](few, 4)
			ok(t, err)
			w = a.Window
		}
		me := world.Rank()
		to := among(t, world, 3, 0, 1) // rank 2 is to leave
		// All fail with one class, and the window has not changed.
		all := func(class mpi.Class, peer int) {
			t.Helper()
			got, err := mpi.WinChangeComm(w, to, peer)
			wantClass(t, err, class)
			if got != w {
				t.Fatal("a window comes with the error, or none")
			}
			if few != nil {
				ok(t, w.Fence(0))
				ok(t, w.Fence(mpi.ModeNoSucceed))
				ok(t, few.Barrier())
			}
		}
		if me == 1 {
			ok(t, w.LockAll(mpi.ModeNoCheck))
		}
		got, err := mpi.WinChangeComm(w, to, 1)
		wantClass(t, err, mpi.ErrRMASync)
		if got != w {
			t.Fatal("a window comes with the error, or none")
		}
		if me == 1 {
			ok(t, w.UnlockAll())
		}
		all(mpi.ErrRank, 0) // a new member
		all(mpi.ErrRank, 3)
		all(mpi.ErrRank, -1)
		all(mpi.ErrRank, []int{1, 1, 1, 0}[me]) // the new member passes itself
		if few != nil {
			d, err := w.Untyped().Dup()
			ok(t, err)
			refused(t, second(mpi.WinChangeComm(d.Window, few, 0)), mpi.ErrWin, "")
			ok(t, d.Free())
			dynamic, err := few.WinCreateDynamic()
			ok(t, err)
			one := make([]int64, 1)
			for i, hold := range []func() func(){ // EX-05: a duplicate, and a window of a memory handle
				func() func() {
					d, err := dynamic.Untyped().Dup()
					ok(t, err)
					return func() { ok(t, d.Free()) }
				},
				func() func() {
					handle, err := mpi.MemhandleCreate(dynamic, one, nil)
					ok(t, err)
					h, err := mpi.WinFromMemhandle[int64](dynamic, handle, few.Rank())
					ok(t, err)
					return func() {
						ok(t, h.Free())
						ok(t, dynamic.MemhandleRelease(handle))
					}
				},
			} {
				release := func() {}
				if few.Rank() == 1 { // that of one member is an error at all
					release = hold()
				}
				got, err := mpi.WinChangeComm(dynamic, few, 0)
				if got != dynamic {
					t.Errorf("case %d: %v, %v", i, got, err)
				}
				wantClass(t, err, mpi.ErrWin)
				release()
			}
			ok(t, second(mpi.WinChangeComm(dynamic, few, 0)))
			ok(t, dynamic.Free())
			refused(t, second(mpi.WinChangeComm(w, nil, 0)), mpi.ErrComm, "all members leave the window: free it")
		}
		if to != nil && me == 3 {
			_, err := mpi.WinChangeCommMemory(to, 1, make([]byte, 8), 8)
			wantClass(t, err, mpi.ErrRMAFlavor)
		} else {
			_, err := mpi.WinChangeComm(w, to, 1)
			wantClass(t, err, mpi.ErrRMAFlavor)
		}
		refused(t, second(mpi.WinChangeComm(nil, nil, 0)), mpi.ErrComm, "neither a window nor a communicator")
		if few != nil {
			ok(t, w.Free())
			refused(t, second(mpi.WinChangeComm(w, few, 0)), mpi.ErrWin, "window has been freed")
		}
	})
}
