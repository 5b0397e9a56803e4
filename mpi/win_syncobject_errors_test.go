package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// refused checks class and message of an error.
func refused(t testing.TB, err error, class mpi.Class, says string) {
	t.Helper()
	wantClass(t, err, class)
	if !strings.Contains(err.Error(), says) {
		t.Errorf("error is %q, want one with %q", err, says)
	}
}

// unstarted is the error of Start for a request with invalid arguments.
func unstarted(q mpi.Request) error { return q.Start() }

// infoOf is an Info with one key.
func infoOf(t testing.TB, key, value string) *mpi.Info {
	t.Helper()
	i := mpi.NewInfo()
	ok(t, i.Set(key, value))
	return i
}

// Objects are allocated, all different and none null (SYN-05, SYN-36), and freed, either all or
// none (SYN-06).
func TestSYN05_SYN06_AllocAndFree(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		other, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		for _, n := range []int{0, 1, 64, 300} {
			list, err := w.AllocSyncObjects(n, nil)
			ok(t, err)
			seen := map[mpi.Sync]bool{mpi.SyncNull: true}
			for _, s := range list {
				if seen[s] || s.IsNull() {
					t.Fatalf("%d objects: %v is there twice, or null", n, s)
				}
				seen[s] = true
			}
			if len(list) != n {
				t.Fatalf("%d objects, want %d", len(list), n)
			}
			again := append([]mpi.Sync(nil), list...)
			ok(t, w.FreeSyncObjects(list))
			for _, s := range list {
				if s != mpi.SyncNull {
					t.Fatal("a freed object is not null")
				}
			}
			if n > 0 {
				refused(t, w.FreeSyncObjects(again), mpi.ErrArg, "FreeSyncObjects: object 0: the synchronisation object has been freed")
				refused(t, w.FreeSyncObjects(list), mpi.ErrArg, "object 0: the synchronisation object is null")
				refused(t, unstarted(w.SyncObjectInit(again[0], 1)), mpi.ErrArg, "has been freed")
				refused(t, unstarted(w.SyncOpsInit(c.Rank(), 0, again[0])), mpi.ErrArg, "has been freed")
			}
		}
		refused(t, second(w.AllocSyncObjects(-1, nil)), mpi.ErrCount, "AllocSyncObjects: -1 synchronisation objects")
		refused(t, second(w.AllocSyncObjects(1<<20, nil)), mpi.ErrNoMem, "at most 32768")
		list, err := w.AllocSyncObjects(2, nil)
		ok(t, err)
		refused(t, w.FreeSyncObjects([]mpi.Sync{list[0], list[1], list[0]}), mpi.ErrArg, "object 2 is object 0 as well")
		refused(t, other.FreeSyncObjects(list), mpi.ErrWin, "is one of another window")
		q := startedSync(t, w.SyncObjectInit(list[1], 1))
		refused(t, w.FreeSyncObjects(list), mpi.ErrRequest, "object 1: its request is active")
		ok(t, w.Signal(c.Rank(), 0, list[1]))
		ended(t, q)
		idle := w.SyncObjectInit(list[0], 1)
		ok(t, w.FreeSyncObjects(list))
		ok(t, idle.Start())
		refused(t, second(idle.Wait()), mpi.ErrRequest, "has been freed")
		ok(t, w.Free())
		ok(t, other.Free())
		refused(t, second(w.AllocSyncObjects(1, nil)), mpi.ErrWin, "window has been freed")
		refused(t, w.FreeSyncObjects(nil), mpi.ErrWin, "window has been freed")
		refused(t, unstarted(w.SyncObjectInit(mpi.SyncNull, 1)), mpi.ErrWin, "window has been freed")
		refused(t, unstarted(w.SyncOpsInit(0, 0, mpi.SyncNull)), mpi.ErrWin, "window has been freed")
		refused(t, second((*mpi.Window)(nil).AllocSyncObjects(1, nil)), mpi.ErrWin, "window is nil")
	})
}

// Invalid handles, ranks, modes, counts and values (SYN-12, SYN-17, SYN-22, SYN-23, SYN-34,
// E0-17, E0-18, E0-20): Start returns the class and the reason.
func TestSYN17_SYN23_SYN34_WrongArguments(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		other, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		me, peer := c.Rank(), 1-c.Rank()
		all := syncs(t, c, w.Window)
		foreign := syncs(t, c, other.Window)
		ops := func(target int, mode mpi.SyncMode, s mpi.Sync, info *mpi.Info) error {
			return unstarted(w.SyncOpsInit(target, mode, s, info))
		}
		object := func(s mpi.Sync, count int, info *mpi.Info) error { return unstarted(w.SyncObjectInit(s, count, info)) }
		refused(t, ops(2, 0, all[peer], nil), mpi.ErrRank, "target 2 is not a rank of a window of 2")
		refused(t, ops(-7, 0, all[peer], nil), mpi.ErrRank, "target -7")
		refused(t, ops(me, 0, all[peer], nil), mpi.ErrRank, "is that of rank")
		refused(t, ops(peer, 0, all[me], nil), mpi.ErrRank, "is that of rank")
		refused(t, ops(peer, 8, all[peer], nil), mpi.ErrArg, "mode 0x8 is none: put is 0x1, get 0x2, accumulate 0x4")
		refused(t, ops(peer, mpi.ModeWinPut|1<<20, all[peer], nil), mpi.ErrArg, "mode 0x100001")
		refused(t, ops(peer, 0, mpi.SyncNull, nil), mpi.ErrArg, "is null")
		refused(t, ops(peer, 0, foreign[peer], nil), mpi.ErrWin, "is one of another window")
		refused(t, ops(peer, 0, all[peer], infoOf(t, "restart", "bogus")), mpi.ErrInfoValue, `restart is "bogus", want true or false`)
		refused(t, object(all[peer], 1, nil), mpi.ErrArg, "only its own process can wait for it")
		refused(t, object(mpi.SyncNull, 1, nil), mpi.ErrArg, "is null")
		refused(t, object(foreign[me], 1, nil), mpi.ErrWin, "is one of another window")
		refused(t, object(all[me], -1, nil), mpi.ErrCount, "-1 signals to wait for")
		refused(t, object(all[me], 1, infoOf(t, "restart", "maybe")), mpi.ErrInfoValue, `restart is "maybe"`)
		refused(t, object(all[me], 1, infoOf(t, "strict", "")), mpi.ErrInfoValue, `strict is ""`)
		none := w.SyncObjectInit(all[me], 0, infoOf(t, "no such key", "whatever"))
		ok(t, none.Start())
		ended(t, &none)

		garbage := []mpi.Sync{{}}
		junk := make([]byte, 8)
		for i := range junk {
			junk[i] = byte(i + 1)
		}
		ok(t, second(mpi.Sendrecv(c, junk, peer, 1, garbage, peer, 1)))
		refused(t, ops(peer, 0, garbage[0], nil), mpi.ErrArg, "this is no synchronisation object")
		refused(t, object(garbage[0], 1, nil), mpi.ErrArg, "this is no synchronisation object")
		refused(t, w.FreeSyncObjects(garbage), mpi.ErrArg, "this is no synchronisation object")

		first := w.SyncObjectInit(all[me], 1)
		twin := w.SyncObjectInit(all[me], 1)
		ok(t, first.Start())
		refused(t, object(all[me], 1, nil), mpi.ErrRequest, "another request of the synchronisation object is active")
		ok(t, twin.Start())
		refused(t, second(twin.Wait()), mpi.ErrRequest, "another request of the synchronisation object is active")
		refused(t, first.Start(), mpi.ErrRequest, "is active: wait for it first")
		refused(t, w.Free(), mpi.ErrRequest, "")
		ok(t, c.Barrier())
		ok(t, w.Signal(peer, 0, all[peer]))
		_, err = first.Wait()
		ok(t, err)
		nobody := w.SyncOpsInit(mpi.ProcNull, mpi.ModeWinAll, mpi.SyncNull)
		ok(t, nobody.Start())
		ok(t, second(nobody.Wait()))
		ok(t, w.Free())
		ok(t, first.Start())
		refused(t, second(first.Wait()), mpi.ErrWin, "the window has been freed")
		ok(t, other.Free())
	})
}

// More signals than two generations (SYN-27, E0-16) are ErrWinCounter, which is ErrRMASync as
// well (SYN-38, E0-26), for the window's error handler, and no signal is lost.
func TestSYN27_SYN38_MoreSignalsThanAreWaitedFor(t *testing.T) {
	if mpi.ErrWinCounter <= mpi.ErrLastCode || mpi.ErrorClass(mpi.ErrWinCounter) != mpi.ErrWinCounter ||
		!errors.Is(mpi.ErrWinCounter, mpi.ErrRMASync) || errors.Is(mpi.ErrRMASync, mpi.ErrWinCounter) ||
		mpi.ErrorString(mpi.ErrWinCounter) != "MPI_ERR_WIN_COUNTER: invalid value of a synchronisation object's counter" {
		t.Errorf("class %d, %q", int(mpi.ErrWinCounter), mpi.ErrorString(mpi.ErrWinCounter))
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		told := 0
		ok(t, w.SetErrhandler(mpi.CreateWinErrhandler(func(_ *mpi.Window, err *mpi.Error) {
			told++
			if err.Class != mpi.ErrWinCounter {
				t.Errorf("told of %v", err)
			}
		})))
		all := syncs(t, c, w.Window)
		const count = 3
		signals := func(n int) {
			ok(t, c.Barrier())
			if c.Rank() == 1 {
				for range n {
					ok(t, w.Signal(0, 0, all[0]))
				}
			}
			ok(t, c.Barrier())
		}
		come := mpi.Request{}
		if c.Rank() == 0 {
			come = w.SyncObjectInit(all[0], count)
			ok(t, come.Start())
		}
		signals(2*count + 1) // one generation, one of credit, and one more
		if c.Rank() == 0 {
			_, err := come.Wait()
			refused(t, err, mpi.ErrWinCounter, "SyncObjectInit: the counter is -4: it has been signalled 4 times more than is waited for, and its count is 3 (MPI_ERR_WIN_COUNTER)")
			wantClass(t, err, mpi.ErrRMASync)
			if mpi.ErrorClass(err) != mpi.ErrWinCounter || told != 1 {
				t.Errorf("class %v, told %d times", mpi.ErrorClass(err), told)
			}
			ok(t, come.Start())
			refused(t, second(come.Wait()), mpi.ErrWinCounter, "the counter is -4")
			ok(t, come.Start())
			if tested(t, &come) {
				t.Error("complete with one signal of three")
			}
		}
		signals(2) // no signal was lost
		if c.Rank() == 0 {
			ok(t, second(come.Wait()))
		}
		ok(t, w.Free())
	})
}

// A request of a synchronisation object cannot be cancelled, and continues (SYN-29, E0-23). A
// request that is freed while it is active signals once, or stops to wait.
func TestSYN29_CancelAndFree(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int](c, 1)
		ok(t, err)
		all := syncs(t, c, w.Window)
		me, peer := c.Rank(), 1-c.Rank()
		come := w.SyncObjectInit(all[me], 1)
		ok(t, come.Start())
		puts := w.SyncOpsInit(peer, mpi.ModeWinPut, all[peer])
		ok(t, puts.Start())
		refused(t, come.Cancel(), mpi.ErrRequest, "cannot be cancelled")
		refused(t, puts.Cancel(), mpi.ErrRequest, "cannot be cancelled")
		ok(t, puts.Free()) // signals
		ok(t, second(come.Wait()))
		ok(t, come.Start())
		if tested(t, &come) {
			t.Error("there were two signals")
		}
		ok(t, c.Barrier())
		again := w.SyncOpsInit(peer, mpi.ModeWinPut, all[peer], infoOf(t, "restart", "true"))
		ok(t, again.Start())
		ok(t, second(again.Wait()))
		ok(t, again.Free()) // it had started again by itself: it does not signal any more
		ok(t, second(come.Wait()))
		ok(t, come.Start())
		ok(t, c.Barrier())
		if tested(t, &come) {
			t.Error("what began again by itself has signalled")
		}
		ok(t, come.Free())
		ok(t, w.Free())
	})
}
