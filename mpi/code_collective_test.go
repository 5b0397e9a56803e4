package mpi_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A typedCall is a collective of n elements of T for each pair of members.
type typedCall func(c *mpi.Comm, n, root int) error

// typedCalls are the collectives of slices and Buffers with elements of T.
func typedCalls[T int32 | float64]() map[string]typedCall {
	wait := func(r mpi.Request) error { _, err := r.Wait(); return err }
	// Blocks have the same number of bytes with both types.
	of := func(n int) []T {
		if _, ok := any(T(0)).(int32); ok {
			n *= 2
		}
		return make([]T, n)
	}
	elements := func(c *mpi.Comm, n int) []int {
		counts := make([]int, c.Size())
		for i := range counts {
			counts[i] = len(of(n))
		}
		return counts
	}
	bufs := func(c *mpi.Comm, n int) []mpi.Buffer {
		list := make([]mpi.Buffer, c.Size())
		for i := range list {
			list[i] = mpi.Buf(of(n))
		}
		return list
	}
	return map[string]typedCall{
		"Bcast":  func(c *mpi.Comm, n, root int) error { return mpi.Bcast(c, of(n), root) },
		"Ibcast": func(c *mpi.Comm, n, root int) error { return wait(mpi.Ibcast(c, of(n), root)) },
		"BcastInit": func(c *mpi.Comm, n, root int) error {
			r := mpi.BcastInit(c, of(n), root)
			return errors.Join(r.Start(), wait(r), r.Free())
		},
		"Comm.Bcast": func(c *mpi.Comm, n, root int) error { return c.Bcast(mpi.Buf(of(n)), root) },
		"Reduce":     func(c *mpi.Comm, n, root int) error { return mpi.Reduce(c, of(n), of(n), mpi.Sum, root) },
		"Ireduce":    func(c *mpi.Comm, n, root int) error { return wait(mpi.Ireduce(c, of(n), of(n), mpi.Sum, root)) },
		"Allreduce":  func(c *mpi.Comm, n, _ int) error { return mpi.Allreduce(c, of(n), of(n), mpi.Sum) },
		"Iallreduce": func(c *mpi.Comm, n, _ int) error { return wait(mpi.Iallreduce(c, of(n), of(n), mpi.Sum)) },
		"Gather":     func(c *mpi.Comm, n, root int) error { return mpi.Gather(c, of(n), of(n*c.Size()), root) },
		"Gatherv": func(c *mpi.Comm, n, root int) error {
			return mpi.Gatherv(c, of(n), of(n*c.Size()), elements(c, n), nil, root)
		},
		"Scatter": func(c *mpi.Comm, n, root int) error { return mpi.Scatter(c, of(n*c.Size()), of(n), root) },
		"Scatterv": func(c *mpi.Comm, n, root int) error {
			return mpi.Scatterv(c, of(n*c.Size()), elements(c, n), nil, of(n), root)
		},
		"Allgather":      func(c *mpi.Comm, n, _ int) error { return mpi.Allgather(c, of(n), of(n*c.Size())) },
		"Iallgather":     func(c *mpi.Comm, n, _ int) error { return wait(mpi.Iallgather(c, of(n), of(n*c.Size()))) },
		"Comm.Allgather": func(c *mpi.Comm, n, _ int) error { return c.Allgather(mpi.Buf(of(n)), mpi.Buf(of(n*c.Size()))) },
		"Allgatherv": func(c *mpi.Comm, n, _ int) error {
			return mpi.Allgatherv(c, of(n), of(n*c.Size()), elements(c, n), nil)
		},
		"Alltoall":  func(c *mpi.Comm, n, _ int) error { return mpi.Alltoall(c, of(n*c.Size()), of(n*c.Size())) },
		"Ialltoall": func(c *mpi.Comm, n, _ int) error { return wait(mpi.Ialltoall(c, of(n*c.Size()), of(n*c.Size()))) },
		"Alltoallv": func(c *mpi.Comm, n, _ int) error {
			return mpi.Alltoallv(c, of(n*c.Size()), elements(c, n), nil, of(n*c.Size()), elements(c, n), nil)
		},
		"Alltoallw":          func(c *mpi.Comm, n, _ int) error { return c.Alltoallw(bufs(c, n), bufs(c, n)) },
		"Scan":               func(c *mpi.Comm, n, _ int) error { return mpi.Scan(c, of(n), of(n), mpi.Sum) },
		"Exscan":             func(c *mpi.Comm, n, _ int) error { return mpi.Exscan(c, of(n), of(n), mpi.Sum) },
		"ReduceScatterBlock": func(c *mpi.Comm, n, _ int) error { return mpi.ReduceScatterBlock(c, of(n*c.Size()), of(n), mpi.Sum) },
		"ReduceScatter": func(c *mpi.Comm, n, _ int) error {
			return mpi.ReduceScatter(c, of(n*c.Size()), of(n), elements(c, n), mpi.Sum)
		},
	}
}

// DT-16, COL-02: if one member of a collective has elements of another type, the members that
// receive these get ErrType, outside of checking mode, too, and the communicator remains usable.
func TestDT16_CollectivesOfOtherElements(t *testing.T) {
	unchecked(t)
	right, wrong := typedCalls[float64](), typedCalls[int32]()
	for _, ranks := range []int{2, 3, 4} {
		mpitest.Run(t, ranks, func(t testing.TB, c *mpi.Comm) {
			for _, name := range slices.Sorted(maps.Keys(right)) {
				for _, n := range []int{1, 3, 1000, 30_000} {
					odd, root := c.Size()-1, 0
					var err error
					if c.Rank() == odd {
						err = wrong[name](c, n, root)
					} else {
						err = right[name](c, n, root)
					}
					what := fmt.Sprintf("%s of %d elements at rank %d", name, n, c.Rank())
					if err != nil && !errors.Is(err, mpi.ErrType) {
						t.Errorf("%s: %v", what, err)
					}
					if err == nil && meetsOther(name, c, odd, root) {
						t.Errorf("%s: no error", what)
					}
					if err != nil && c.Size() == 2 && !(strings.Contains(err.Error(), "MPI_DOUBLE") && strings.Contains(err.Error(), "MPI_INT32_T") && strings.Contains(err.Error(), "rank 1")) {
						t.Errorf("%s: %v", what, err)
					}
					// The next collective works normally.
					sum, err := mpi.AllreduceOne(c, 1, mpi.Sum)
					if err != nil || sum != c.Size() {
						t.Errorf("then %d, %v", sum, err)
					}
				}
			}
		})
	}
}

// DT-16, COL-02: the same with equal numbers of elements instead of bytes: a reduction or Bcast
// in which a member has other elements is ErrType in all members that receive them, whether the
// data is too long or too short. The lengths are such that all members choose the same
// algorithm.
func TestDT16_CollectivesOfAsManyOtherElements(t *testing.T) {
	unchecked(t)
	for _, ranks := range []int{2, 3} {
		mpitest.Run(t, ranks, func(t testing.TB, c *mpi.Comm) {
			me := c.Rank()
			for odd := range ranks {
				for _, n := range []int{1, 2, 100, 100_000} {
					var bcast, sum error
					if me == odd {
						sum = mpi.Allreduce(c, make([]int32, n), make([]int32, n), mpi.Sum)
					} else {
						sum = mpi.Allreduce(c, make([]float64, n), make([]float64, n), mpi.Sum)
					}
					if !errors.Is(sum, mpi.ErrType) || ranks == 2 && !(strings.Contains(sum.Error(), "MPI_DOUBLE") && strings.Contains(sum.Error(), "MPI_INT32_T")) {
						t.Errorf("Allreduce of %d elements, rank %d: %v", n, me, sum)
					}
					if n > 100 {
						continue // see TestCOL05_LongBcastOfOtherLengths
					}
					if me == odd {
						bcast = mpi.Bcast(c, make([]int32, n), 0)
					} else {
						bcast = mpi.Bcast(c, make([]float64, n), 0)
					}
					if (odd == me || odd == 0) && me != 0 && !errors.Is(bcast, mpi.ErrType) || me == 0 && bcast != nil {
						t.Errorf("Bcast of %d elements, rank %d: %v", n, me, bcast)
					}
				}
			}
			ok(t, c.Barrier())
		})
	}
}

// DT-16, COL-02: a long Bcast whose members disagree on the length, because of their types or
// counts, completes in all of them, with an error in those that receive another length.
func TestCOL05_LongBcastOfOtherLengths(t *testing.T) {
	unchecked(t)
	t.Setenv("HALO_COLL_BCAST", "chain") // by different lengths members would choose different algorithms
	for _, ranks := range []int{2, 3, 4} {
		mpitest.Run(t, ranks, func(t testing.TB, c *mpi.Comm) {
			const segment = 128 << 10 / 8 // elements of float64
			me := c.Rank()
			for _, n := range []int{33_000, 4 * segment, 4*segment + 1, 100_000} {
				for odd := range ranks {
					for _, other := range []int{n / 2, n - 1, n + 1, n - segment, n + segment, 2 * n} {
						what := fmt.Sprintf("%d elements, %d at rank %d", n, other, odd)
						mine := n
						if me == odd {
							mine = other
						}
						err := mpi.Bcast(c, make([]float64, mine), 0)
						if (me == odd || odd == 0) && me != 0 && !errors.Is(err, mpi.ErrTruncate) && !errors.Is(err, mpi.ErrCount) || me == 0 && err != nil {
							t.Errorf("%s, rank %d: %v", what, me, err)
						}
						ok(t, c.Barrier())
					}
					// Equal numbers of elements of another type.
					var err error
					if me == odd {
						err = mpi.Bcast(c, make([]int32, n), 0)
					} else {
						err = mpi.Bcast(c, make([]float64, n), 0)
					}
					if (me == odd || odd == 0) && me != 0 && !errors.Is(err, mpi.ErrType) || me == 0 && err != nil {
						t.Errorf("%d elements of another type at rank %d, rank %d: %v", n, odd, me, err)
					}
					ok(t, c.Barrier())
				}
			}
		})
	}
}

// meetsOther reports whether a member must have detected that another member, odd, has elements
// of another type.
func meetsOther(name string, c *mpi.Comm, odd, root int) bool {
	me := c.Rank()
	switch base := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "Comm."), "I"), "Init"); strings.ToLower(base) {
	case "bcast", "scatter", "scatterv":
		return me == odd
	case "reduce", "gather", "gatherv":
		return me == root
	case "scan", "exscan":
		return me == odd
	}
	return true
}

// COL-04, COL-05: members that pass different roots get an error, at the latest from the next
// collective in which data moves between them, with messages and with shared memory. Long
// messages wait for their receiver, so that two roots that only send wait for each other
// (docs/checking.md).
func TestCOL05_TwoRoots(t *testing.T) {
	unchecked(t)
	calls := typedCalls[float64]()
	for _, ranks := range []int{2, 3, 4} {
		mpitest.Run(t, ranks, func(t testing.TB, c *mpi.Comm) {
			if testrun.Race && strings.Contains(t.Name(), "inproc") {
				return // two roots write to one place of a slot, which is the error itself
			}
			for _, name := range []string{"Bcast", "Ibcast", "Scatter", "Reduce"} {
				for _, n := range []int{1, 1000} {
					if slot := strings.Contains(t.Name(), "shm-") || strings.Contains(t.Name(), "inproc-"); name == "Reduce" && (!slot || n > 60) {
						continue // with messages both roots only receive, and there is nothing to compare
					}
					d, err := c.Dup()
					ok(t, err)
					root := 0
					if d.Rank() == d.Size()-1 {
						root = d.Rank()
					}
					first := calls[name](d, n, root)
					if first != nil && !errors.Is(first, mpi.ErrRoot) {
						t.Errorf("%s of %d elements at rank %d: %v", name, n, d.Rank(), first)
					}
					// One of these uses shared memory if there is any, the other messages.
					second := mpi.Allreduce(d, make([]float64, 1), make([]float64, 1), mpi.Sum)
					r := mpi.Iallreduce(d, make([]float64, 1), make([]float64, 1), mpi.Sum)
					if _, err := r.Wait(); second == nil {
						second = err
					}
					if first == nil && second == nil {
						t.Errorf("%s of %d elements at rank %d: no error", name, n, d.Rank())
					}
					if second != nil && !errors.Is(second, mpi.ErrRoot) {
						t.Errorf("after %s of %d elements at rank %d: %v", name, n, d.Rank(), second)
					}
					for _, err := range []error{first, second} {
						if err != nil && c.Size() == 2 && !(strings.Contains(err.Error(), "rank 0 names root 0") && strings.Contains(err.Error(), "rank 1 names root 1")) {
							t.Errorf("%s of %d elements at rank %d: %v", name, n, d.Rank(), err)
						}
					}
					ok(t, c.Barrier()) // the other communicators still work
				}
			}
		})
	}
}
