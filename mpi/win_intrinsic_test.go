package mpi_test

import (
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// QV-15, QV-16, QV-17, E3-16, E3-17: OpIntrinsic is true where all members' memory is mapped and
// the processor has such operations, for few elements; it is never true where a service does
// them. An invalid list of operations is an error.
func TestQV15_QV17_OpIntrinsic(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		long, double := mustType[int64](t), mustType[float64](t)
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			mapped := s.Flavor() != mpi.WinFlavorDynamic
			for r := range c.Size() {
				if mapped {
					mem, _, err := s.SharedQuery(r)
					ok(t, err)
					mapped = mem != nil
				}
			}
			last := true
			for n := range 1000 {
				yes, err := s.OpIntrinsic("sum", n, long)
				ok(t, err)
				if yes && !last {
					t.Fatalf("it is true for %d, and not for less", n)
				}
				last = yes
				if n == 1 && yes != mapped {
					t.Errorf("one sum is intrinsic: %v, memory is mapped: %v", yes, mapped)
				}
			}
			if last {
				t.Error("1000 sums are said to be atomic operations without the assertion")
			}
			for _, ops := range []string{"sum,cas,no_op", " sum , replace", "cas", "min,max,sum,sum"} {
				if yes, err := s.OpIntrinsic(ops, 1, long); err != nil || yes != mapped {
					t.Errorf("%q: %v, %v, want %v", ops, yes, err, mapped)
				}
			}
			if yes, err := s.OpIntrinsic("sum,prod,replace", 1, double); err != nil || yes != mapped {
				t.Errorf("float64: %v, %v", yes, err)
			}
			for _, bad := range []string{"", " ", "sum,", "SUM", "sum cas", "add", "mpi_sum"} {
				_, err := s.OpIntrinsic(bad, 1, long)
				wantClass(t, err, mpi.ErrArg)
			}
			for _, x := range []struct {
				ops   string
				n     int
				d     mpi.Datatype
				class mpi.Class
			}{{"sum", -1, long, mpi.ErrCount}, {"band", 1, double, mpi.ErrOp}, {"cas", 1, double, mpi.ErrType}, {"sum", 1, mpi.Datatype{}, mpi.ErrType}} {
				_, err := s.OpIntrinsic(x.ops, x.n, x.d)
				wantClass(t, err, x.class)
			}
			// The hint is accepted only where OpIntrinsic can be true.
			d, err := s.Dup(pairs(t, "acc_single_intrinsic", "true"))
			ok(t, err)
			if mapped {
				wantInfo(t, d.Window, "mpi_assert_accumulate_intrinsic", "true")
			} else {
				wantInfo(t, d.Window)
			}
			if yes, err := d.OpIntrinsic("sum", 100_000, long); err != nil || yes != mapped {
				t.Errorf("with the assertion: %v, %v", yes, err)
			}
			ok(t, d.Free())
			_, err = d.OpIntrinsic("sum", 1, long)
			wantClass(t, err, mpi.ErrWin)
			ok(t, c.Barrier())
		})
	})
}

// QV-18, QV-19, QV-25: with the assertion single accumulates are still exact, by several
// goroutines and ranks, on the window and on a duplicate with the same assertion.
func TestQV18_AssertedIsExact(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		k := rounds(300)
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			d, err := s.Dup(pairs(t, "mpi_assert_accumulate_intrinsic", "true"))
			ok(t, err)
			ok(t, s.SetInfo(pairs(t, "mpi_assert_accumulate_intrinsic", "true")))
			ok(t, s.LockAll(0))
			var wg sync.WaitGroup
			for _, w := range []mpi.Win[int64]{s.Win, d, d} {
				wg.Go(func() {
					one, was, old, next := int64(1), int64(0), int64(0), int64(0)
					for range k {
						err := w.FetchAndOp(&one, &was, 0, s.at(0, 0), mpi.Sum)
						if err == nil {
							err = w.Accumulate([]int64{one}, 0, s.at(0, 1), mpi.Sum)
						}
						for swapped := false; err == nil && !swapped; { // one more by compare-and-swap
							next = old + 1
							expected := old
							err = w.CompareAndSwap(&next, &expected, &old, 0, s.at(0, 2))
							if err == nil {
								err = w.FlushLocal(0)
							}
							swapped = old == expected
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			want := int64(3 * k * c.Size())
			if c.Rank() == 0 && (s.mem[0] != want || s.mem[1] != want || s.mem[2] != want) {
				t.Errorf("%v were counted, want %d", s.mem[:3], want)
			}
			ok(t, d.Free())
			ok(t, c.Barrier())
		})
	})
}
