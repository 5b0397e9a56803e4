package mpi_test

import (
	"errors"
	"math"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// notifiedAccessesOf are all calls that access a target and notify it.
func notifiedAccessesOf(s *space[int64], target, disp, counter int) map[string]func() error {
	b, v := []int64{-1}, int64(-1)
	wait := func(r mpi.Request) error { return second(r.Wait()) }
	return map[string]func() error{
		"PutNotify":            func() error { return s.PutNotify(b, target, disp, counter) },
		"GetNotify":            func() error { return s.GetNotify([]int64{0}, target, disp, counter) },
		"AccumulateNotify":     func() error { return s.AccumulateNotify(b, target, disp, mpi.Sum, counter) },
		"GetAccumulateNotify":  func() error { return s.GetAccumulateNotify(b, []int64{0}, target, disp, mpi.Sum, counter) },
		"FetchAndOpNotify":     func() error { return s.FetchAndOpNotify(&v, new(int64), target, disp, mpi.Sum, counter) },
		"CompareAndSwapNotify": func() error { return s.CompareAndSwapNotify(&v, new(int64), new(int64), target, disp, counter) },
		"RputNotify":           func() error { return wait(s.RputNotify(b, target, disp, counter)) },
		"RgetNotify":           func() error { return wait(s.RgetNotify([]int64{0}, target, disp, counter)) },
		"RaccumulateNotify":    func() error { return wait(s.RaccumulateNotify(b, target, disp, mpi.Sum, counter)) },
		"RgetAccumulateNotify": func() error { return wait(s.RgetAccumulateNotify(b, []int64{0}, target, disp, mpi.Sum, counter)) },
	}
}

// Misuse of notified operations is an error with class, call and window, changes nothing, and
// does not notify.
func TestQV38_MisuseOfNotifiedOperations(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			ok(t, s.SetName("grid"))
			to := (c.Rank() + 1) % c.Size()
			at := s.at(to, 0)
			each := func(target, disp, counter int, class mpi.Class) {
				t.Helper()
				for call, access := range notifiedAccessesOf(s, target, disp, counter) {
					wantText(labelled{t, call}, access(), class, "mpi: "+call+" on grid")
				}
			}
			if s.kind != "shared" { // a shared window would accept an epoch of any kind next, too; one test is enough
				for call, access := range notifiedAccessesOf(s, to, at, 1) {
					wantClass(labelled{t, call}, access(), mpi.ErrRMASync)
				}
			}
			ok(t, s.LockAll(0))
			for _, counter := range []int{-1, math.MinInt, mpi.NotifyMax, math.MaxInt} {
				each(to, at, counter, mpi.ErrArg)
			}
			each(c.Size(), at, 1, mpi.ErrRank)
			each(-7, at, 1, mpi.ErrRank)
			far := s.at(to, 0) + 1<<40
			if s.addr == nil {
				each(to, -1, 1, mpi.ErrDisp)
				each(to, far, 1, mpi.ErrRMARange)
			} else {
				for _, access := range notifiedAccessesOf(s, to, far, 1) {
					err := access()
					if flushed := s.Flush(to); err == nil { // only the target can detect it
						err = flushed
					}
					wantClass(t, err, mpi.ErrRMARange)
				}
			}
			wantClass(t, s.Untyped().PutNotify(mpi.Buf([]int64{1, 2}), to, int64(at), 1, typeOf[int64](), 1), mpi.ErrTruncate)
			wantClass(t, s.Untyped().GetNotify(mpi.Buf([]int64{1}), to, int64(at), 1, mpi.Datatype{}, 1), mpi.ErrType)
			wantClass(t, s.AccumulateNotify([]int64{1}, to, at, mpi.NoOp, 1), mpi.ErrOp)
			wantClass(t, s.FetchAndOpNotify(nil, nil, to, at, mpi.Sum, 1), mpi.ErrBuffer)
			wantClass(t, s.CompareAndSwapNotify(nil, new(int64), new(int64), to, at, 1), mpi.ErrBuffer)
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if n, err := s.NotifyGet(1); n != 0 || err != nil {
				t.Errorf("counter 1 is %d, %v", n, err)
			}
			for i, v := range s.mem {
				if v != 0 {
					t.Errorf("word %d is %d", i, v)
				}
			}
		})
	})
}

// Misuse of counters and of requests that wait for them.
func TestQV38_MisuseOfCounters(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 1)
		ok(t, err)
		ok(t, w.SetName("grid"))
		wait := func(r mpi.Request) error { return second(r.Wait()) }
		for _, i := range []int{-1, mpi.NotifyMax, math.MaxInt} {
			wantText(t, second(w.NotifyGet(i)), mpi.ErrArg, "NotifyGet on grid", "counter")
			wantText(t, w.NotifySet(i, 1), mpi.ErrArg, "NotifySet on grid", "32767")
			wantText(t, wait(w.IwaitNotify(i, 1)), mpi.ErrArg, "IwaitNotify on grid")
			wantText(t, wait(w.NotifyReach(i, 1)), mpi.ErrArg, "NotifyReach on grid")
			wantText(t, wait(w.NotifyInit(i, 1)), mpi.ErrArg, "NotifyInit on grid")
		}
		wantText(t, wait(w.IwaitNotify(0, -1)), mpi.ErrCount, "number of notifications is -1, which is negative")
		wantText(t, wait(w.NotifyInit(0, -1)), mpi.ErrCount, "number of notifications is -1, which is negative")
		wantText(t, w.NotifySetNum(-1), mpi.ErrArg, "-1 counters")
		wantText(t, w.NotifySetNum(mpi.NotifyMax+1), mpi.ErrArg, "32769 counters")
		ok(t, w.NotifySetNum(0))
		ok(t, w.NotifySetNum(100))
		ok(t, w.NotifySetNum(mpi.NotifyMax))
		ok(t, w.NotifySet(7, math.MinInt64))
		if n, err := w.NotifyGet(7); n != math.MinInt64 || err != nil {
			t.Errorf("counter 7 is %d, %v", n, err)
		}

		// Free of a window is refused while a request waits, and the error has the number of
		// requests.
		r := w.IwaitNotify(3, 1)
		wantText(t, w.Free(), mpi.ErrRequest, "1 requests wait for counters")
		wantClass(t, r.Free(), mpi.ErrRequest)
		ok(t, r.Cancel())
		ok(t, wait(r))
		p := w.NotifyInit(3, 1)
		if err := p.Cancel(); err == nil {
			t.Error("an inactive request was cancelled")
		}
		ok(t, c.Barrier())
		ok(t, w.Free())
		ok(t, p.Start())
		wantClass(t, wait(p), mpi.ErrWin)
		ok(t, p.Free())
		wantClass(t, wait(w.IwaitNotify(3, 1)), mpi.ErrWin)
		wantClass(t, second(w.NotifyGet(3)), mpi.ErrWin)
		wantClass(t, w.NotifySet(3, 0), mpi.ErrWin)
		wantClass(t, w.NotifySetNum(3), mpi.ErrWin)
		wantClass(t, w.PutNotify([]int64{1}, 0, 0, 0), mpi.ErrWin)
		var none *mpi.Window
		wantClass(t, none.Untyped().PutNotify(mpi.Buf([]int64{1}), 0, 0, 1, typeOf[int64](), 0), mpi.ErrWin)
		wantClass(t, wait(none.IwaitNotify(0, 1)), mpi.ErrWin)
	})
}

// Counters at all ends of the range, used by others before the rank itself has used them: they
// count, and their memory is freed with the window.
func TestQV38_CountersAreThereWhenUsed(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		numbers := []int{0, 63, 64, 127, 128, 1000, 16384, 30000, mpi.NotifyMax - 65, mpi.NotifyMax - 64, mpi.NotifyMax - 1}
		for range 3 {
			w, err := mpi.WinAllocate[int64](c, 1)
			ok(t, err)
			ok(t, w.LockAll(0))
			for r := range c.Size() {
				for _, i := range numbers {
					ok(t, w.PutNotify(nil, r, 0, i))
				}
			}
			for _, i := range numbers {
				r := w.IwaitNotify(i, c.Size())
				ok(t, second(r.Wait()))
			}
			ok(t, w.UnlockAll())
			ok(t, c.Barrier())
			for _, i := range numbers {
				if n, err := w.NotifyGet(i); n != 0 || err != nil {
					t.Errorf("counter %d is %d, %v", i, n, err)
				}
			}
			ok(t, w.Free())
		}
	})
}

// Operations with notifications, and waiting for them, allocate nothing.
func TestNotificationsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		onSpaces(t, c, 64, func(t testing.TB, s *space[int64]) {
			at := s.at(peer, 0)
			buf, one, was := make([]int64, 1), new(int64), new(int64)
			var failed error
			do := func(err error) {
				if err != nil && failed == nil {
					failed = err
				}
			}
			turn := s.NotifyInit(2, 1)
			ok(t, s.LockAll(0))
			for _, x := range []struct {
				name string
				do   func()
			}{
				{"PutNotify", func() { do(s.PutNotify(buf, peer, at, 1)); do(s.Flush(peer)) }},
				{"a signal", func() { do(s.PutNotify(nil, peer, at, 1)) }},
				{"GetNotify", func() { do(s.GetNotify(buf, peer, at, 1)); do(s.Flush(peer)) }},
				{"AccumulateNotify", func() { do(s.AccumulateNotify(buf, peer, at, mpi.Sum, 1)); do(s.Flush(peer)) }},
				{"FetchAndOpNotify", func() { do(s.FetchAndOpNotify(one, was, peer, at, mpi.Sum, 1)); do(s.Flush(peer)) }},
				{"WaitNotify", func() {
					do(s.PutNotify(buf, peer, at, 2))
					r := s.IwaitNotify(2, 1)
					do(second(r.Wait()))
				}},
				{"NotifyInit", func() {
					do(s.PutNotify(buf, peer, at, 2))
					do(turn.Start())
					do(second(turn.Wait()))
				}},
			} {
				allocatesNothing(t, c, x.name, 50, x.do)
			}
			ok(t, s.UnlockAll())
			ok(t, turn.Free())
			ok(t, failed)
		})
	})
}

// If a rank dies during its notifications, only operations that are complete have been counted:
// each counted element is whole (F2). A rank that waits for more continues while another rank is
// alive, and gets an error when none is (F1).
func TestF1_F2_NotificationsOfTheDead(t *testing.T) {
	const n = 3
	for _, kind := range spaceKinds {
		t.Run(kind, func(t *testing.T) {
			onDeath(t, n, func(t testing.TB, c *mpi.Comm) {
				s := newSpace[int64](t, c, kind, 101, nil)
				parting(t, c)
				if s == nil {
					return
				}
				ok(t, s.LockAll(0))
				for i := range 100 { // without a flush, so that any number may arrive
					ok(t, s.PutNotify([]int64{int64(i) + 1}, 0, s.at(0, i), 0))
				}
			}, func(t testing.TB, c *mpi.Comm) {
				s := newSpace[int64](t, c, kind, 101, nil)
				parting(t, c)
				if s == nil {
					return
				}
				more := s.IwaitNotify(0, 1000)
				if c.Rank() == 1 {
					// The other rank is alive and notifies: no notification is lost.
					r := s.IwaitNotify(1, 1)
					ok(t, second(r.Wait()))
					if s.mem[100] != 7 {
						t.Errorf("memory %d", s.mem[100])
					}
				} else {
					epoch := func() error {
						if err := s.Lock(mpi.LockShared, 1, 0); err != nil {
							return err
						}
						return errors.Join(s.PutNotify([]int64{7}, 1, s.at(1, 100), 1), s.Unlock(1))
					}
					err := epoch()
					if err != nil { // the first one that locks after the death of a holder gets the error, once
						wantClass(t, err, mpi.ErrProcFailed)
						err = epoch()
					}
					ok(t, err)
					for i, last := int64(0), int64(-1); i > last; { // that many have arrived, and their data with them
						last = i
						var err error
						i, err = s.NotifyGet(0)
						ok(t, err)
						for k := range i {
							if s.mem[k] != k+1 {
								t.Errorf("%d notifications, and word %d is %d", i, k, s.mem[k])
							}
						}
					}
				}
				ok(t, more.Cancel())
				if st, err := more.Wait(); err != nil || !st.Cancelled() {
					t.Errorf("%v, %v after Cancel", st, err)
				}
				peer := 1 - c.Rank()
				ok(t, second(mpi.Sendrecv(c, []byte{0}, peer, 0, []byte{0}, peer, 0)))
				if c.Rank() == 0 {
					r := s.IwaitNotify(5, 1) // rank 1 ends without notifying
					wantClass(t, second(r.Wait()), mpi.ErrProcFailed)
				}
			})
		})
	}
}
