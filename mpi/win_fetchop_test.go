package mpi_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// RC-05, RC-06: FetchOp and CompareSwap return the previous value of the element when the call
// returns, without a flush: each ticket is given out once, and a counter that all ranks increase
// by compare-and-swap loses no step.
func TestRC05_RC06_FetchOpAndCompareSwap(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(200)
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			got, tries := make([]int64, k), 0
			ok(t, s.LockAll(0))
			for i := range got {
				var err error
				got[i], err = s.FetchOp(1, 0, s.at(0, 0), mpi.Sum)
				ok(t, err)
				for moved := false; !moved; tries++ {
					old, err := s.FetchOp(0, 0, s.at(0, 1), mpi.NoOp)
					ok(t, err)
					was, err := s.CompareSwap(old+1, old, 0, s.at(0, 1))
					ok(t, err)
					moved = was == old
				}
			}
			ok(t, c.Barrier())
			n, err := s.FetchOp(0, 0, s.at(0, 1), mpi.NoOp)
			ok(t, err)
			if n != int64(k*c.Size()) {
				t.Errorf("after %d steps of each of %d ranks the counter is %d", k, c.Size(), n)
			}
			ok(t, s.UnlockAll())
			all := make([]int64, k*c.Size())
			ok(t, mpi.Allgather(c, got, all))
			slices.Sort(all)
			for i, v := range all {
				if v != int64(i) {
					t.Fatalf("ticket %d is %d: one was given twice, or lost", i, v)
				}
			}
		})
	})
}

// A refused call changes nothing, also in epochs in which a call cannot wait, and returns 0,
// like an operation to ProcNull: never a value that an earlier call has fetched.
func TestFetchOpErrors(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			one := func() error {
				_, err := s.FetchOp(1, 0, s.at(0, 0), mpi.Sum)
				return err
			}
			swap := func(value int64, target, disp int) error {
				_, err := s.CompareSwap(value, 0, target, disp)
				return err
			}
			for _, err := range []error{one(), swap(1, 0, s.at(0, 0))} {
				wantClass(t, err, mpi.ErrRMASync)
			}
			ok(t, s.Fence(0))
			refused(t, one(), mpi.ErrRMASync, "FetchOp")
			refused(t, swap(1, 0, s.at(0, 0)), mpi.ErrRMASync, "CompareSwap")
			ok(t, s.Fence(mpi.ModeNoSucceed))
			ok(t, s.Lock(mpi.LockShared, 0, 0))
			wantClass(t, swap(1, c.Size(), 0), mpi.ErrRank)
			_, err := s.FetchOp(7, 0, s.at(0, 1), mpi.Replace)
			ok(t, err)
			last, err := s.CompareSwap(0, 7, 0, s.at(0, 1)) // 0 if another rank has accessed it in between
			ok(t, err)
			if last != 7 && last != 0 {
				t.Errorf("the element was %d", last)
			}
			for _, f := range []func() (int64, error){
				func() (int64, error) { return s.FetchOp(1, mpi.ProcNull, 0, mpi.Sum) },
				func() (int64, error) { return s.CompareSwap(1, 0, mpi.ProcNull, 0) },
			} {
				none, err := f()
				ok(t, err)
				if none != 0 {
					t.Errorf("with ProcNull the element was %d", none)
				}
			}
			if was, err := s.FetchOp(1, c.Size(), 0, mpi.Sum); was != 0 || err == nil {
				t.Errorf("of a rank that is none the element was %d (%v)", was, err)
			}
			if s.addr == nil {
				wantClass(t, swap(1, 0, -1), mpi.ErrDisp)
				wantClass(t, swap(1, 0, 1<<20), mpi.ErrRMARange)
			}
			_, err = s.FetchOp(1, 0, s.at(0, 0), mpi.CreateOp(func(in, inout []int64) {}, true))
			wantClass(t, err, mpi.ErrOp)
			n, err := s.FetchOp(0, 0, s.at(0, 0), mpi.NoOp)
			ok(t, err)
			if n != 0 {
				t.Errorf("what was refused has made the element %d", n)
			}
			ok(t, s.Unlock(0))
		})
		onSpaces(t, c, 1, func(t testing.TB, s *space[float64]) {
			ok(t, s.LockAll(0))
			_, err := s.CompareSwap(1, 0, 0, s.at(0, 0))
			wantClass(t, err, mpi.ErrType)
			ok(t, c.Barrier())
			_, err = s.FetchOp(float64(c.Rank()+1), 0, s.at(0, 0), mpi.Max)
			ok(t, err)
			ok(t, c.Barrier())
			most, err := s.FetchOp(0, 0, s.at(0, 0), mpi.NoOp)
			ok(t, err)
			if most != float64(c.Size()) {
				t.Errorf("the maximum is %v", most)
			}
			ok(t, s.UnlockAll())
		})
	})
}
