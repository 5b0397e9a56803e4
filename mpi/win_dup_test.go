package mpi_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// QV-20, QV-22, QV-24, E3-11: one rank alone makes and frees a duplicate; memory, epochs and locks are
// those of the window: data that is put on one is read on the other, in the epoch that either
// has begun, and completed by a flush of either.
func TestQV20_QV22_QV24_DupSharesAll(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			if c.Rank() == 0 { // the other ranks are in no call
				d, err := s.Dup()
				ok(t, err)
				target := c.Size() - 1
				ok(t, s.Lock(mpi.LockExclusive, target, 0))
				wantClass(t, d.Lock(mpi.LockShared, target, 0), mpi.ErrRMASync)
				wantClass(t, d.LockAll(0), mpi.ErrRMASync)
				wantClass(t, d.Fence(0), mpi.ErrRMASync)
				ok(t, d.Put([]int64{5, 6}, target, s.at(target, 1)))
				ok(t, s.Flush(target))
				got := make([]int64, 2)
				ok(t, s.Get(got, target, s.at(target, 1)))
				ok(t, d.Flush(target))
				if !slices.Equal(got, []int64{5, 6}) {
					t.Errorf("%v is there", got)
				}
				ok(t, d.Put([]int64{7}, target, s.at(target, 3)))
				ok(t, d.Unlock(target))
				wantClass(t, s.Unlock(target), mpi.ErrRMASync)
				wantClass(t, d.Put([]int64{5}, target, s.at(target, 1)), mpi.ErrRMASync)
				ok(t, d.LockAll(0))
				ok(t, s.UnlockAll())
				if d.Flavor() != s.Flavor() || d.DispUnit() != s.DispUnit() || d.Bytes() != s.Bytes() || d.Model() != s.Model() {
					t.Error("the duplicate differs")
				}
				if a, b := s.Local(), d.Local(); len(a) > 0 && &a[0] != &b[0] {
					t.Error("the duplicate has memory of its own")
				}
				ok(t, d.Free())
				wantClass(t, d.Put([]int64{5}, target, s.at(target, 1)), mpi.ErrWin)
				wantClass(t, d.Free(), mpi.ErrWin)
				_, err = d.Dup()
				wantClass(t, err, mpi.ErrWin)
			}
			ok(t, c.Barrier())
			if c.Rank() == c.Size()-1 && !slices.Equal(s.mem, []int64{0, 5, 6, 7}) {
				t.Errorf("the memory is %v", s.mem)
			}
		})
	})
}

// QV-21, QV-23, E3-04, E3-12, INF-03: a duplicate has the window's hints and the given ones, including
// aliases; shared properties cannot be changed; the window's hints do not change.
func TestQV01_QV21_QV23_DupHints(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 4, pairs(t, "mpi_win_scope", "thread", "accumulate_ordering", "none"))
		ok(t, err)
		wantInfo(t, w.Window, "mpi_win_scope", "thread", "accumulate_ordering", "none")
		d, err := w.Dup(pairs(t, "mpi_win_order", "true", "no_locks", "true", "mpi_accumulate_granularity", "8", "same_size", "true", "zzz", "1"))
		ok(t, err)
		wantInfo(t, d.Window, "mpi_win_scope", "thread", "mpi_win_order", "true", "accumulate_ordering", "none")
		wantInfo(t, w.Window, "mpi_win_scope", "thread", "accumulate_ordering", "none")
		ok(t, d.SetInfo(pairs(t, "mpi_win_scope", "fiber", "mpi_win_ordered", "false", "mpi_win_scope_thread", "false")))
		wantInfo(t, d.Window, "accumulate_ordering", "none")
		ok(t, d.SetInfo(pairs(t, "mpi_win_scope", "thread", "mpi_win_scope_thread", "false", "mpi_win_ordered", "true")))
		wantInfo(t, d.Window, "mpi_win_scope", "thread", "mpi_win_order", "true", "accumulate_ordering", "none")
		ok(t, d.SetInfo(pairs(t, "mpi_win_scope", "process", "mpi_win_order", "false")))
		ok(t, d.SetInfo(pairs(t, "mpi_win_scope_thread", "true", "mpi_win_ordered", "true"))) // the other names alone
		wantInfo(t, d.Window, "mpi_win_scope", "thread", "mpi_win_order", "true", "accumulate_ordering", "none")
		ok(t, w.SetInfo(pairs(t, "no_locks", "true")))
		wantInfo(t, w.Window, "mpi_win_scope", "thread", "accumulate_ordering", "none")
		ok(t, d.Free())
		ok(t, w.SetInfo(pairs(t, "no_locks", "true", "mpi_win_no_attr", "true", "mpi_lock_shared", "true")))
		wantInfo(t, w.Window, "mpi_win_scope", "thread", "accumulate_ordering", "none", "no_locks", "true")
		ok(t, w.Free())
	})
}

// E3-10, ATT-09: attributes are copied as their keys say; if that fails there is no duplicate.
// The error handler is inherited, the name is not; Free deletes the attributes of the duplicate.
func TestQV24_ATT09_DupCopiesAttributes(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := c.WinCreate(make([]byte, 8), 1)
		ok(t, err)
		deleted, refuse := []int(nil), errors.New("no")
		remove := func(_ *mpi.Window, v int) error { deleted = append(deleted, v); return nil }
		same := mpi.CreateKeyval(mpi.DupFn[*mpi.Window, int], remove)
		more := mpi.CreateKeyval(func(old *mpi.Window, v int) (int, bool, error) { return v + 1, old == w, nil }, remove)
		none := mpi.CreateKeyval[*mpi.Window, int](nil, remove)
		for i, k := range []mpi.Keyval[*mpi.Window, int]{same, more, none} {
			ok(t, mpi.SetAttr(w, k, 10*(i+1)))
		}
		ok(t, w.SetName("parent"))
		called := 0
		ok(t, w.SetErrhandler(mpi.CreateWinErrhandler(func(*mpi.Window, *mpi.Error) { called++ })))
		d, err := w.Untyped().Dup()
		ok(t, err)
		a, has, _ := mpi.GetAttr(d.Window, same)
		b, too, _ := mpi.GetAttr(d.Window, more)
		_, not, _ := mpi.GetAttr(d.Window, none)
		if a != 10 || !has || b != 21 || !too || not || d.Name() != "" {
			t.Errorf("the duplicate %q has %d %v, %d %v, %v", d.Name(), a, has, b, too, not)
		}
		ok(t, d.SetName("child"))
		wantClass(t, d.Flush(0), mpi.ErrRMASync)
		if called != 1 || w.Name() != "parent" {
			t.Errorf("the handler was called %d times, the window is %q", called, w.Name())
		}
		ok(t, d.Free())
		if !slices.Equal(deleted, []int{21, 10}) {
			t.Errorf("%v were deleted", deleted)
		}
		deleted = nil
		bad := mpi.CreateKeyval(func(*mpi.Window, int) (int, bool, error) { return 0, false, refuse }, remove)
		ok(t, mpi.SetAttr(w, bad, 1))
		if _, err := w.Untyped().Dup(); !errors.Is(err, refuse) {
			t.Errorf("a copy callback fails: %v", err)
		}
		if !slices.Equal(deleted, []int{21, 10}) {
			t.Errorf("%v were deleted after a failure", deleted)
		}
		ok(t, mpi.DeleteAttr(w, bad))
		ok(t, w.Free())
	})
}

// E3-09: the window may be freed before its duplicates. The memory of all members remains until
// any rank frees the last duplicate; Free of the last one is refused while an epoch is open.
func TestQV24_LastUserFrees(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		for _, kind := range spaceKinds {
			s := newSpace[int64](labelled{t, kind}, c, kind, 2, nil)
			if s == nil {
				continue
			}
			var d mpi.Win[int64]
			me, n := c.Rank(), c.Size()
			var err error
			if me < 2 {
				d, err = s.Dup()
				ok(t, err)
			}
			wantWin := s.Win
			ok(t, s.Free())
			wantClass(t, wantWin.LockAll(0), mpi.ErrWin)
			if me < 2 {
				ok(t, d.LockAll(0))
				for r := range n {
					ok(t, d.Put([]int64{int64(10*me + r + 1)}, r, s.at(r, me)))
				}
				ok(t, d.FlushAll())
				wantClass(t, d.Free(), mpi.ErrRMASync)
				got := make([]int64, n)
				for r := range n {
					ok(t, d.Get(got[r:r+1], r, s.at(r, me)))
				}
				ok(t, d.UnlockAll())
				for r, x := range got {
					if x != int64(10*me+r+1) {
						t.Errorf("%s: %d at rank %d", kind, x, r)
					}
				}
			}
			ok(t, c.Barrier())
			if s.kind == "create" && (s.mem[0] != int64(me+1) || s.mem[1] != int64(11+me)) {
				t.Errorf("the memory is %v", s.mem)
			}
			if me == 0 {
				ok(t, d.Free())
			}
			ok(t, c.Barrier())
			if me == 1 {
				ok(t, d.LockAll(0))
				ok(t, d.Put([]int64{77}, n-1, s.at(n-1, 0)))
				ok(t, d.UnlockAll())
				ok(t, d.Free())
			}
			ok(t, c.Barrier())
			if s.kind == "create over AllocMem" || s.kind == "dynamic over AllocMem" {
				ok(t, mpi.FreeMem(c, s.mem))
			}
		}
	})
}

// QV-25, QV-26: goroutines add to the same elements on the window and on duplicates with
// different hints, and no update is lost.
func TestQV25_QV26_AtomicAcrossDups(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(60)
		onSpaces(t, c, 3, func(t testing.TB, s *space[int64]) {
			hints := [][]string{nil, {"mpi_win_scope", "thread"}, {"mpi_win_order", "true"}, {"mpi_win_scope", "thread", "mpi_win_order", "true"}}
			ok(t, s.LockAll(0))
			var wg sync.WaitGroup
			for _, h := range hints {
				d, err := s.Dup(pairs(t, h...))
				ok(t, err)
				wg.Go(func() {
					one, was := []int64{1, 1, 1}, int64(0)
					for i := range k {
						target := i % c.Size()
						err := d.Accumulate(one, target, s.at(target, 0), mpi.Sum)
						if err == nil {
							err = d.FetchAndOp(&one[0], &was, target, s.at(target, 1), mpi.Sum)
						}
						if err == nil {
							err = d.Flush(target)
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
					if err := d.Free(); err != nil { // in the epoch of the window
						t.Error(err)
					}
				})
			}
			wg.Wait()
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			sums := make([]int64, 3)
			ok(t, mpi.Allreduce(c, s.mem, sums, mpi.Sum))
			if all := int64(k * len(hints) * c.Size()); !slices.Equal(sums, []int64{all, 2 * all, all}) {
				t.Errorf("the sums are %v, want %d, %d and %d", sums, all, 2*all, all)
			}
		})
	})
}
