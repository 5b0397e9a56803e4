package mpi_test

import (
	"runtime"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// QV-33: a million windows are made of memory handles and freed while the other member is away, so
// neither call needs it. Afterwards the heap has grown by less than one byte for each two windows,
// and the memory that the processes of a node share has the blocks that it had. The windows are of
// this process's memory and of that of the other member, with channels of their own and without.
func TestQV33_MillionCyclesWithoutPeers(t *testing.T) {
	unchecked(t) // in checking mode a window of a handle asks its target
	whileAway(t, func(t testing.TB, c *mpi.Comm, x *absence) {
		me := c.Rank()
		parent, err := c.WinCreateDynamic()
		ok(t, err)
		mine, err := mpi.AllocMem[int64](c, 8)
		ok(t, err)
		own, err := mpi.MemhandleCreate(parent, mine, nil)
		ok(t, err)
		theirs := make([]byte, len(own))
		ok(t, second(mpi.Sendrecv(c, own, 1-me, 0, theirs, 1-me, 0)))
		ok(t, parent.LockAll(0))
		mapped := x.worlds[me].Proc.Node() != nil
		thread, cycles := pairs(t, "mpi_win_scope", "thread"), rounds(1_000_000)
		cycle := func(i int) {
			handle, target := theirs, 1
			if i%4 == 3 {
				handle, target = own, 0
			}
			if i%16 == 7 {
				handle, err = mpi.MemhandleCreate(parent, mine[:1+i%8], nil)
				ok(t, err)
			}
			var w mpi.Win[int64]
			if i%8 == 5 {
				w, err = mpi.WinFromMemhandle[int64](parent, handle, target, thread)
			} else {
				w, err = mpi.WinFromMemhandle[int64](parent, handle, target)
			}
			ok(t, err)
			if target == 0 || mapped && i%2 == 1 {
				ok(t, w.Put([]int64{int64(i)}, target, 0))
			}
			ok(t, w.Free())
			if i%16 == 7 {
				ok(t, parent.MemhandleRelease(handle))
			}
		}
		x.during(c, func() {
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.GC() // what pools keep is freed by the second one
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			for i := range cycles / 10 {
				cycle(i)
			}
			before := heap()
			blocks, bytes := x.worlds[0].Memory.Live()
			for i := range cycles {
				cycle(i)
			}
			if after := heap(); after > before+uint64(cycles)/2 {
				t.Errorf("%d bytes of the heap are live, %d cycles before it were %d", after, cycles, before)
			}
			if b, n := x.worlds[0].Memory.Live(); b != blocks || n != bytes {
				t.Errorf("%d blocks of %d bytes are allocated, %d cycles before it were %d of %d", b, n, cycles, blocks, bytes)
			}
		})
		// The parent and the handles are as before.
		w, err := mpi.WinFromMemhandle[int64](parent, theirs, 1-me)
		ok(t, err)
		ok(t, w.Put([]int64{int64(70 + me)}, 1-me, 7))
		ok(t, w.Free())
		ok(t, c.Barrier())
		if mine[7] != int64(70+1-me) {
			t.Errorf("the memory has %d", mine)
		}
		ok(t, parent.UnlockAll())
		ok(t, parent.Free())
		ok(t, mpi.FreeMem(c, mine))
	})
}
