package mpi_test

import (
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// numbered is a thread for OfThread.
func numbered(n int) func() int { return func() int { return n } }

// Threads have separate operations under thread scope, and only then (QV-02, QV-03, E3-13): a
// flush by one covers the operations that it has issued, and the end of the epoch covers all
// (QV-05).
func TestQV02_QV05_OperationsOfThreads(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		w, err := mpi.WinAllocate[int64](c, 16)
		ok(t, err)
		if mpi.Internals.OfThread(w.Window, func() int { t.Error("a thread is asked for under process scope"); return 1 }) != w.Window {
			t.Error("a thread has operations of its own under process scope")
		}
		ok(t, w.SetInfo(pairs(t, "mpi_win_scope", "thread")))
		threads := map[*mpi.Window]int{}
		for n := range 5 {
			x := mpi.Internals.OfThread(w.Window, numbered(3*n))
			threads[x] = n
			if mpi.Internals.OfThread(w.Window, numbered(3*n)) != x {
				t.Error("a thread has two")
			}
		}
		if len(threads) != 5 || mpi.Internals.OfThread(w.Window, numbered(0)) != w.Window {
			t.Errorf("5 threads have %d", len(threads))
		}
		for _, n := range []int{-1, 1 << 16} {
			if mpi.Internals.OfThread(w.Window, numbered(n)) != w.Window {
				t.Errorf("thread %d, which is none, has operations of its own", n)
			}
		}
		ok(t, w.LockAll(0))
		for x, n := range threads {
			ok(t, x.Untyped().Put(mpi.Buf([]int64{int64(10*c.Rank() + n)}), peer, int64(n), 1, must(mpi.TypeOf[int64]())))
			ok(t, x.Flush(peer))
		}
		ok(t, c.Barrier())
		for n := range 5 {
			if got := w.Local()[n]; got != int64(10*peer+n) {
				t.Errorf("thread %d has put %d", n, got)
			}
		}
		ok(t, c.Barrier())
		ok(t, w.SetInfo(pairs(t, "mpi_win_order", "true"))) // of the windows of all threads
		for x, n := range threads {
			wantInfo(t, x, "mpi_win_scope", "thread", "mpi_win_order", "true")
			ok(t, x.Untyped().Put(mpi.Buf([]int64{77}), peer, int64(n), 1, must(mpi.TypeOf[int64]())))
		}
		ok(t, w.UnlockAll())
		ok(t, c.Barrier())
		for n := range 5 {
			if got := w.Local()[n]; got != 77 {
				t.Errorf("thread %d has put %d when the epoch ends", n, got)
			}
		}
		// Errors belong to the window, and it is freed as a whole.
		heard := 0
		ok(t, w.SetErrhandler(mpi.CreateWinErrhandler(func(x *mpi.Window, _ *mpi.Error) {
			heard++
			if x != w.Window {
				t.Error("the error handler hears of another window")
			}
		})))
		other := mpi.Internals.OfThread(w.Window, numbered(3))
		wantClass(t, other.Flush(peer), mpi.ErrRMASync)
		wantClass(t, other.Free(), mpi.ErrWin)
		if heard != 2 {
			t.Errorf("the error handler was called %d times", heard)
		}
		ok(t, w.Free())
		wantClass(t, other.Flush(peer), mpi.ErrWin)
	})
}

// Windows are made over bytes at an address (RW-01), and if an argument is invalid all members
// get the error.
func TestRW01_WindowsAtAnAddress(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		mem := must(mpi.AllocMem[int32](c, 8))
		w, err := c.WinCreatePtr(unsafe.Pointer(&mem[1]), 12, 4)
		ok(t, err)
		ok(t, w.Fence(0))
		v := mpi.Win[int32]{Window: w}
		ok(t, v.Put([]int32{1, 2, 3}, peer, 0))
		wantClass(t, v.Put([]int32{1, 2, 3, 4}, peer, 0), mpi.ErrRMARange)
		ok(t, w.Fence(0))
		if mem[0] != 0 || mem[1] != 1 || mem[3] != 3 || mem[4] != 0 {
			t.Errorf("memory is %v", mem)
		}
		ok(t, w.Free())
		empty, err := c.WinCreatePtr(nil, 0, 1)
		ok(t, err)
		ok(t, empty.Free())
		at := func(p unsafe.Pointer, size int64) (unsafe.Pointer, int64) {
			if c.Rank() == 0 {
				return unsafe.Pointer(&mem[0]), 4 // valid arguments
			}
			return p, size
		}
		for _, bad := range []struct {
			p     unsafe.Pointer
			size  int64
			class mpi.Class
		}{{unsafe.Pointer(&mem[0]), -1, mpi.ErrSize}, {nil, 8, mpi.ErrArg}} {
			p, size := at(bad.p, bad.size)
			_, err := c.WinCreatePtr(p, size, 1)
			wantClass(t, err, bad.class)
		}
		ok(t, mpi.FreeMem(c, mem))
	})
}
