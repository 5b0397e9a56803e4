package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// In checking mode, a program whose ranks tell each other by synchronisation objects which
// operations are complete gets no errors: signalled data may be used at once, by stores and by
// other ranks. Before the first signal, conflicts are reported.
func TestSYN01_RC10_SignalledOperationsAreSilent(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		n := c.Size()
		right, left := (c.Rank()+1)%n, (c.Rank()+n-1)%n
		w, err := mpi.WinAllocate[int64](c, 2)
		ok(t, err)
		own, err := w.AllocSyncObjects(1, nil)
		ok(t, err)
		there := []mpi.Sync{mpi.SyncNull}
		_, err = mpi.Sendrecv(c, own, left, 0, there, right, 0)
		ok(t, err)
		ok(t, w.LockAll(0))
		arrived := w.SyncObjectInit(own[0], 1)
		done := w.SyncOpsInit(right, mpi.ModeWinPut, there[0])
		for i := range int64(20) {
			ok(t, arrived.Start())
			ok(t, done.Start())
			ok(t, w.Put([]int64{i}, right, 0))
			_, err = done.Wait()
			ok(t, err)
			_, err = arrived.Wait()
			ok(t, err)
			ok(t, w.Store([]int64{-i}, 0))
			ok(t, c.Barrier())
		}
		ok(t, w.UnlockAll())
		ok(t, done.Free())
		ok(t, arrived.Free())
		ok(t, w.FreeSyncObjects(own))
		ok(t, w.Free())
	})
}
