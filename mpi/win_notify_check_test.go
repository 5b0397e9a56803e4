package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// In checking mode operations that notify are checked against pending operations, and their
// origin memory against that of others (RC-10, QV-38). Accesses after a notification are not
// reported, since it may tell that the operations are complete.
func TestRC10_QV38_NotifiedOperationsAreChecked(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 16)
		ok(t, err)
		ok(t, w.LockAll(0))
		data, two, was, old := []int64{1, 2}, int64(2), int64(0), []int64{0}
		if c.Rank() == 1 {
			ok(t, w.Put([]int64{7}, 0, 4)) // not flushed until all calls have failed
		}
		ok(t, c.Barrier())
		if c.Rank() == 2 {
			for call, err := range map[string]error{
				"PutNotify": w.PutNotify(data, 0, 3, 1), "GetNotify": w.GetNotify(old, 0, 4, 1),
				"AccumulateNotify": w.AccumulateNotify(data, 0, 4, mpi.Sum, 1), "GetAccumulateNotify": w.GetAccumulateNotify(data[:1], old, 0, 4, mpi.Sum, 1),
				"FetchAndOpNotify":     w.FetchAndOpNotify(&two, &was, 0, 4, mpi.Sum, 1),
				"CompareAndSwapNotify": w.CompareAndSwapNotify(&two, &two, &was, 0, 4, 1),
				"RputNotify":           waitFor(w.RputNotify(data, 0, 3, 1)), "RgetNotify": waitFor(w.RgetNotify(old, 0, 4, 1)),
				"RaccumulateNotify":    waitFor(w.RaccumulateNotify(data, 0, 4, mpi.Sum, 1)),
				"RgetAccumulateNotify": waitFor(w.RgetAccumulateNotify(data[:1], old, 0, 4, mpi.Sum, 1)),
			} {
				wantText(labelled{t, call}, err, mpi.ErrRMAConflict, "mpi: "+call, "Put by rank 1", "win_notify_check_test.go")
			}
			ok(t, w.PutNotify(data, 0, 8, 1))
			ok(t, w.Put([]int64{3, 3}, 0, 10)) // a call that notifies does not affect the rest
			wantText(t, w.GetNotify(data[1:], 0, 0, 1), mpi.ErrRMAConflict, "fetches into 8 bytes", "PutNotify at ", "is sending")
			ok(t, w.Flush(0))
		}
		ok(t, c.Barrier())
		if c.Rank() == 1 {
			ok(t, w.Flush(0))
		}
		ok(t, c.Barrier())
		if n, err := w.NotifyGet(1); err != nil || c.Rank() == 0 && n != 1 {
			t.Errorf("%d notifications have come, want that of the one that did not fail; %v", n, err)
		}
		// Messages back and forth with no other synchronisation: no error is reported.
		ok(t, w.NotifySet(1, 0))
		ok(t, c.Barrier())
		peer := c.Rank() ^ 1
		for i := range int64(20) {
			ok(t, w.PutNotify([]int64{i}, peer, 0, 1))
			q := w.IwaitNotify(1, 1)
			ok(t, second(q.Wait()))
			ok(t, w.Store([]int64{-i}, 0))
			ok(t, w.PutNotify(nil, peer, 0, 2)) // the peer may put again
			q = w.IwaitNotify(2, 1)
			ok(t, second(q.Wait()))
		}
		ok(t, w.UnlockAll())
		ok(t, w.Free())
	})
}
