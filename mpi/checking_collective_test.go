package mpi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// In checking mode, if members call a collective inconsistently, all of them get the same error.
// It names two of them and what each of them called, sends or receives. The communicator remains
// usable.
func TestCheckedCollectivesNameTwoRanks(t *testing.T) {
	const n = 3
	type elements = []int32
	start := func(q mpi.Request) error { _, err := q.Wait(); return err }
	again := func(q mpi.Request) error {
		defer q.Free()
		for range 2 { // it fails at every start
			if err := q.Start(); err != nil {
				return err
			}
			if _, err := q.Wait(); err == nil {
				return nil
			}
		}
		if err := q.Start(); err != nil {
			return err
		}
		_, err := q.Wait()
		return err
	}
	pick := func(c *mpi.Comm, list ...int) int { return list[c.Rank()] }
	sum := mpi.CreateOp(func(in, inout []int32) {
		for i := range in {
			inout[i] += in[i]
		}
	}, true)
	product := mpi.CreateOp(func(in, inout []int32) {
		for i := range in {
			inout[i] *= in[i]
		}
	}, false)
	for _, x := range []struct {
		name  string
		call  func(c *mpi.Comm) error
		class mpi.Class
		text  string
	}{
		{"other collectives", func(c *mpi.Comm) error {
			if c.Rank() == 2 {
				return c.Barrier()
			}
			return mpi.Bcast(c, make(elements, 4), 0)
		}, mpi.ErrOther, "rank 0 calls Bcast, rank 2 calls Barrier"},
		{"other forms", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return start(c.Ibarrier())
			}
			return c.Barrier()
		}, mpi.ErrOther, "rank 0 calls Barrier, rank 1 calls Ibarrier"},
		{"reductions of other kinds", func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				return mpi.Reduce(c, make(elements, 1), make(elements, 1), mpi.Sum, 0)
			}
			return mpi.Allreduce(c, make(elements, 1), make(elements, 1), mpi.Sum)
		}, mpi.ErrOther, "rank 0 calls Reduce, rank 1 calls Allreduce"},
		{"Bcast of other roots", func(c *mpi.Comm) error { return mpi.Bcast(c, make(elements, 1), pick(c, 0, 0, 1)) },
			mpi.ErrRoot, "rank 0 names root 0, rank 2 names root 1"},
		{"Bcast of a root that there is not", func(c *mpi.Comm) error { return mpi.Bcast(c, make(elements, 1), pick(c, 0, 7, 0)) },
			mpi.ErrRoot, "rank 1: root 7 in a communicator of 3"},
		{"Bcast of other types", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return mpi.Bcast(c, make([]float32, 4), 2)
			}
			return mpi.Bcast(c, make(elements, 4), 2)
		}, mpi.ErrType, "rank 2 sends 4 x MPI_INT32_T, rank 1 receives 4 x MPI_FLOAT"},
		{"Bcast of other lengths", func(c *mpi.Comm) error { return mpi.Bcast(c, make(elements, pick(c, 4, 4, 5)), 0) },
			mpi.ErrCount, "rank 0 sends 4 x MPI_INT32_T, rank 2 receives 5 x MPI_INT32_T"},
		{"Bcast of nothing at the root", func(c *mpi.Comm) error { return mpi.Bcast(c, make(elements, pick(c, 0, 1, 0)), 0) },
			mpi.ErrCount, "rank 0 sends 0 x MPI_INT32_T, rank 1 receives 1 x MPI_INT32_T"},
		{"Comm.Bcast of other types", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return c.Bcast(mpi.Buf(make([]struct {
					A int32
					B float64
				}, 2)), 0)
			}
			return mpi.Bcast(c, make([]float64, 3), 0)
		}, mpi.ErrType, "rank 0 sends 3 x MPI_DOUBLE, rank 1 receives 2 x struct"},
		{"Ibcast", func(c *mpi.Comm) error { return start(mpi.Ibcast(c, make(elements, pick(c, 4, 3, 4)), 0)) },
			mpi.ErrCount, "rank 0 sends 4 x MPI_INT32_T, rank 1 receives 3 x MPI_INT32_T"},
		{"BcastInit", func(c *mpi.Comm) error { return again(mpi.BcastInit(c, make(elements, pick(c, 4, 3, 4)), 0)) },
			mpi.ErrCount, "rank 0 sends 4 x MPI_INT32_T, rank 1 receives 3 x MPI_INT32_T"},
		{"Gather", func(c *mpi.Comm) error {
			if c.Rank() == 2 {
				return mpi.Gather(c, make([]uint32, 2), nil, 1)
			}
			return mpi.Gather(c, make(elements, 2), make(elements, 6), 1)
		}, mpi.ErrType, "rank 2 sends 2 x MPI_UINT32_T, rank 1 receives 2 x MPI_INT32_T"},
		{"Gatherv", func(c *mpi.Comm) error {
			return mpi.Gatherv(c, make(elements, pick(c, 1, 2, 4)), make(elements, 6), []int{1, 2, 3}, nil, 0)
		}, mpi.ErrCount, "rank 2 sends 4 x MPI_INT32_T, rank 0 receives 3 x MPI_INT32_T"},
		{"Scatter", func(c *mpi.Comm) error {
			return mpi.Scatter(c, make(elements, 6), make(elements, pick(c, 2, 1, 2)), 0)
		}, mpi.ErrCount, "rank 0 sends 2 x MPI_INT32_T, rank 1 receives 1 x MPI_INT32_T"},
		{"Scatterv", func(c *mpi.Comm) error {
			if c.Rank() == 0 {
				return mpi.Scatterv(c, nil, nil, nil, make([]int64, 1), 2)
			}
			return mpi.Scatterv(c, make(elements, 6), []int{2, 2, 2}, nil, make(elements, 2), 2)
		}, mpi.ErrType, "rank 2 sends 2 x MPI_INT32_T, rank 0 receives 1 x MPI_INT64_T"},
		{"Allgather", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return c.Allgather(mpi.Buf(make([]float32, 2)), mpi.Buf(make([]float32, 6)))
			}
			return mpi.Allgather(c, make(elements, 2), make(elements, 6))
		}, mpi.ErrType, "rank 1 sends 2 x MPI_FLOAT, rank 0 receives 2 x MPI_INT32_T"},
		{"Allgatherv", func(c *mpi.Comm) error {
			counts := []int{1, 1, 1}
			if c.Rank() == 2 {
				counts[0] = 2
			}
			return mpi.Allgatherv(c, make(elements, 1), make(elements, 6), counts, nil)
		}, mpi.ErrCount, "rank 0 sends 1 x MPI_INT32_T, rank 2 receives 2 x MPI_INT32_T"},
		{"Alltoall", func(c *mpi.Comm) error {
			return mpi.Alltoall(c, make(elements, 3*pick(c, 1, 1, 2)), make(elements, 9))
		}, mpi.ErrCount, "rank 2 sends 2 x MPI_INT32_T, rank 0 receives 1 x MPI_INT32_T"},
		{"Alltoallv", func(c *mpi.Comm) error {
			counts := []int{1, 1, 1}
			receives := []int{1, 1, 1}
			if c.Rank() == 1 {
				counts[2] = 3
			}
			return mpi.Alltoallv(c, make(elements, 6), counts, nil, make(elements, 6), receives, nil)
		}, mpi.ErrCount, "rank 1 sends 3 x MPI_INT32_T, rank 2 receives 1 x MPI_INT32_T"},
		{"Ialltoallw of too few Buffers", func(c *mpi.Comm) error {
			return start(c.Ialltoallw(make([]mpi.Buffer, pick(c, 3, 1, 3)), make([]mpi.Buffer, 3)))
		}, mpi.ErrCount, "rank 1: 1 send and 3 receive buffers for 3 members"},
		{"Alltoallw and Ialltoallw", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return start(c.Ialltoallw(make([]mpi.Buffer, 3), make([]mpi.Buffer, 3)))
			}
			return c.Alltoallw(make([]mpi.Buffer, 3), make([]mpi.Buffer, 3))
		}, mpi.ErrOther, "rank 0 calls Alltoallw, rank 1 calls Ialltoallw"},
		{"Alltoallw", func(c *mpi.Comm) error {
			send, recv := make([]mpi.Buffer, n), make([]mpi.Buffer, n)
			for r := range n {
				send[r], recv[r] = mpi.Buf(make(elements, 2)), mpi.Buf(make(elements, 2))
			}
			if c.Rank() == 2 {
				recv[1] = mpi.Buf(make([]float64, 1))
			}
			return c.Alltoallw(send, recv)
		}, mpi.ErrType, "rank 1 sends 2 x MPI_INT32_T, rank 2 receives 1 x MPI_DOUBLE"},
		{"operations", func(c *mpi.Comm) error {
			return mpi.Allreduce(c, make(elements, 1), make(elements, 1), []mpi.Op{mpi.Sum, mpi.Sum, mpi.Max}[c.Rank()])
		}, mpi.ErrOp, "rank 0 combines by Sum, rank 2 by Max"},
		{"operations of programs", func(c *mpi.Comm) error {
			return mpi.Allreduce(c, make(elements, 1), make(elements, 1), []mpi.Op{mpi.Sum, sum, product}[c.Rank()])
		}, mpi.ErrOp, "rank 0 combines by Sum, rank 1 by an operation of the program that commutes"},
		{"an operation that is not defined", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return mpi.Allreduce(c, make([]float64, 1), make([]float64, 1), mpi.Band)
			}
			return mpi.Allreduce(c, make(elements, 1), make(elements, 1), mpi.Band)
		}, mpi.ErrOp, "rank 1: "},
		{"operands of other types", func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				return c.Reduce(mpi.Buf(make([]float32, 4)), mpi.Buf(make([]float32, 4)), mpi.Sum, 2)
			}
			return mpi.Reduce(c, make(elements, 4), make(elements, 4), mpi.Sum, 2)
		}, mpi.ErrType, "rank 1 gives 4 x float32, rank 0 gives 4 x int32"},
		{"operands of other lengths", func(c *mpi.Comm) error {
			return start(mpi.Iscan(c, make(elements, pick(c, 4, 5, 4)), make(elements, 5), mpi.Sum))
		}, mpi.ErrCount, "rank 1 gives 5 x int32, rank 0 gives 4 x int32"},
		{"operands of an operation of the program", func(c *mpi.Comm) error {
			return mpi.Exscan(c, make(elements, pick(c, 4, 4, 2)), make(elements, 5), product)
		}, mpi.ErrCount, "rank 2 gives 2 x MPI_INT32_T, rank 0 gives 4 x MPI_INT32_T"},
		{"ReduceScatter", func(c *mpi.Comm) error {
			counts := []int{2, 2, 2}
			if c.Rank() == 1 {
				counts = []int{1, 2, 3}
			}
			return mpi.ReduceScatter(c, make(elements, 6), make(elements, 3), counts, mpi.Sum)
		}, mpi.ErrCount, "rank 0 divides the result into [2 2 2] elements, rank 1 into [1 2 3]"},
		{"ReduceScatterBlock", func(c *mpi.Comm) error {
			return mpi.ReduceScatterBlock(c, make(elements, 3*pick(c, 2, 1, 2)), make(elements, 3), mpi.Sum)
		}, mpi.ErrCount, "rank 1 gives 3 x int32, rank 0 gives 6 x int32"},
		{"a slice that is too short at one rank", func(c *mpi.Comm) error {
			return mpi.Allgather(c, make(elements, 2), make(elements, pick(c, 6, 6, 5)))
		}, mpi.ErrCount, "rank 2: receive slice of 5 elements for 6"},
		{"a Buffer that one rank has made wrongly", func(c *mpi.Comm) error {
			double, _ := mpi.TypeOf[float64]()
			return start(c.Ibcast(mpi.BufOf(make([]float64, pick(c, 4, 4, 3)), 4, double), 0))
		}, mpi.ErrBuffer, "rank 2: "},
	} {
		t.Run(x.name, func(t *testing.T) {
			checked(t, n, func(t testing.TB, c *mpi.Comm) {
				if err := x.call(c); !errors.Is(err, x.class) || !strings.Contains(err.Error(), x.text) {
					t.Errorf("rank %d: %v, want %v with %q", c.Rank(), err, x.class, x.text)
				}
				got, err := mpi.AllreduceOne(c, c.Rank(), mpi.Sum)
				if err != nil || got != 3 {
					t.Errorf("rank %d: a reduction that is right: %d, %v", c.Rank(), got, err)
				}
			})
		})
	}
}

// Calls that make communicators, and Finalize, are checked like other collectives.
func TestCheckedCreationsNameTwoRanks(t *testing.T) {
	free := func(c *mpi.Comm, err error) error {
		if c != nil {
			c.Free()
		}
		return err
	}
	idup := func(c *mpi.Comm) error {
		d, q := c.Idup()
		_, err := q.Wait()
		return free(d, err)
	}
	for _, x := range []struct {
		one, others func(c *mpi.Comm) error
		text        string
	}{
		{func(c *mpi.Comm) error { return free(c.Dup()) }, func(c *mpi.Comm) error { return mpi.Bcast(c, make([]byte, 16), 0) },
			"rank 0 calls Dup, rank 1 calls Bcast"},
		{func(c *mpi.Comm) error { return free(c.Split(0, 0)) }, func(c *mpi.Comm) error { return c.Barrier() },
			"rank 0 calls Split, rank 1 calls Barrier"},
		{func(c *mpi.Comm) error { return free(c.Create(mpi.GroupEmpty)) }, func(c *mpi.Comm) error { return c.Barrier() },
			"rank 0 calls Create, rank 1 calls Barrier"},
		{idup, func(c *mpi.Comm) error { return free(c.Dup()) }, "rank 0 calls Idup, rank 1 calls Dup"},
	} {
		checked(t, 3, func(t testing.TB, c *mpi.Comm) {
			call := x.others
			if c.Rank() == 0 {
				call = x.one
			}
			mismatched(t, "the call", call(c), mpi.ErrOther, x.text)
			for _, call := range []func(c *mpi.Comm) error{x.one, x.others} { // correct calls still work
				if err := call(c); err != nil {
					t.Errorf("rank %d: %v", c.Rank(), err)
				}
			}
		})
	}
	t.Setenv("HALO_CHECK", "1")
	err := mpi.Run(2, func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			return nil
		}
		return c.Barrier()
	})
	mismatched(t, "Run", err, mpi.ErrOther, "rank 0 calls Finalize, rank 1 calls Barrier")
}
