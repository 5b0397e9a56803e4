package mpi_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// environments are all environments in which results of the numbers of odd differ.
var environments = []op.Env{
	0, op.RoundDown, op.RoundUp, op.RoundToZero,
	op.FlushResults | op.FlushOperands, op.RoundUp | op.FlushResults | op.FlushOperands, op.FlushResults,
}

// odd are numbers whose sums and products depend on the environment: those of rank r for
// collective k.
func odd[T float32 | float64](n, r, k int) []T {
	x := make([]T, n)
	least := math.SmallestNonzeroFloat64
	normal := 0x1p-1022
	if v, ok := any(x).([]float32); ok && v != nil {
		least, normal = math.SmallestNonzeroFloat32, 0x1p-126
	}
	for i := range x {
		s := float64(1 + (i*7+r*3+k)%5)
		switch (i + k) % 4 {
		case 0: // one is much smaller than the other
			x[i] = T(s / math.Pow(1e20, float64(r%2)))
		case 1: // the sum is subnormal
			x[i] = T(normal * (1 + s/16) * float64(1-r%2*2))
		case 2: // the operands are subnormal, too
			x[i] = T(least * s)
		default:
			x[i] = T(s / 3)
		}
	}
	return x
}

// sameBits reports whether two slices are identical, including the signs of zeros.
func sameBits[T float32 | float64](a, b []T) bool {
	return slices.EqualFunc(a, b, func(x, y T) bool {
		return math.Float64bits(float64(x)) == math.Float64bits(float64(y))
	})
}

// COL-14: reductions in a floating-point environment have the same bits as result at all
// members, whichever process computes them, and the same as the operation by itself: blocking,
// nonblocking and persistent ones, short and long.
func TestCOL14_EnvironmentsOfReductions(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, e := range environments {
				for _, o := range []mpi.Op{mpi.Sum, mpi.Prod} {
					for k, length := range []int{1, 5, 300, 5000} {
						if length == 5000 && (o == mpi.Prod || n == 3) {
							continue
						}
						reduceIn[float64](t, world, mpi.Internals.In(o, e), length, k, fmt.Sprintf("%v of %d in %#x", o, length, e))
						if length < 5000 {
							reduceIn[float32](t, world, mpi.Internals.In(o, e), length, k, fmt.Sprintf("%v of %d short ones in %#x", o, length, e))
						}
					}
				}
			}
		})
	}
}

func reduceIn[T float32 | float64](t testing.TB, c *mpi.Comm, o mpi.Op, n, k int, what string) {
	mine := odd[T](n, c.Rank(), k)
	// The result for two ranks, and a prefix for any number: the order of more operands is not
	// determined.
	want := odd[T](n, 1, k)
	ok(t, mpi.ReduceLocal(odd[T](n, 0, k), want, o))
	check := func(form string, got []T) {
		if c.Size() == 2 && !sameBits(got, want) {
			t.Errorf("rank %d: %s of %s: %v, not %v", c.Rank(), form, what, got[:1], want[:1])
		}
		first := slices.Clone(got)
		ok(t, mpi.Bcast(c, first, 0))
		if !sameBits(got, first) {
			t.Errorf("rank %d: %s of %s: %v, at rank 0 %v", c.Rank(), form, what, got[:1], first[:1])
		}
	}
	got := make([]T, n)
	ok(t, mpi.Allreduce(c, mine, got, o))
	check("Allreduce", got)
	r := mpi.Iallreduce(c, mine, got, o)
	_, err := r.Wait()
	ok(t, err)
	check("Iallreduce", got)
	ok(t, c.Allreduce(mpi.Buf(mine), mpi.Buf(got), o))
	check("Allreduce of Buffers", got)
	r = mpi.AllreduceInit(c, mine, got, o)
	ok(t, r.Start())
	_, err = r.Wait()
	ok(t, err)
	ok(t, r.Free())
	check("AllreduceInit", got)
	ok(t, mpi.Reduce(c, mine, got, o, 0))
	if c.Rank() == 0 && c.Size() == 2 && !sameBits(got, want) {
		t.Errorf("Reduce of %s: %v, not %v", what, got[:1], want[:1])
	}
	ok(t, mpi.Scan(c, mine, got, o))
	if c.Rank() == 1 && !sameBits(got, want) {
		t.Errorf("Scan of %s: %v, not %v", what, got[:1], want[:1])
	}
}

// The meaning of an environment: a sum that is not exact is rounded in its direction.
func TestCOL14_EnvironmentsRound(t *testing.T) {
	for e, want := range map[op.Env]float64{
		0: 1, op.RoundDown: 1, op.RoundToZero: 1, op.RoundUp: 1 + 0x1p-52, op.RoundUp | op.FlushOperands: 1 + 0x1p-52,
	} {
		sum := []float64{1}
		ok(t, mpi.ReduceLocal([]float64{1e-20}, sum, mpi.Internals.In(mpi.Sum, e)))
		if sum[0] != want {
			t.Errorf("1 + 1e-20 in %#x is %v, not %v", e, sum[0], want)
		}
	}
	flushed := []float64{0x1p-1022}
	ok(t, mpi.ReduceLocal([]float64{-0x1p-1023}, flushed, mpi.Internals.In(mpi.Sum, op.FlushResults|op.FlushOperands)))
	if want := 0x1p-1022; flushed[0] != want {
		t.Errorf("where a subnormal operand is zero the sum is %v, not %v", flushed[0], want)
	}
	whole := []int32{5}
	ok(t, mpi.ReduceLocal([]int32{7}, whole, mpi.Internals.In(mpi.Sum, op.RoundUp)))
	if whole[0] != 12 || mpi.Internals.In(mpi.Min, op.RoundUp) != mpi.Min || mpi.Internals.In(mpi.OpNull, op.RoundUp) != mpi.OpNull || mpi.Internals.In(mpi.Internals.In(mpi.Sum, op.RoundUp), 0) != mpi.Sum ||
		mpi.Internals.In(mpi.Sum, op.RoundUp).String() != mpi.Sum.String() {
		t.Errorf("operations that do not depend on environments do: %v", whole)
	}
}

// RC-17: accumulates are done in the environment that they specify, one after the other, on
// every path: in place, as frames, coalesced, offered, fetched.
func TestRC17_EnvironmentsOfAccumulates(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			allocated, err := mpi.WinAllocate[float64](world, 400)
			ok(t, err)
			created, err := mpi.WinCreate(world, make([]float64, 400))
			ok(t, err)
			for _, w := range []mpi.Win[float64]{allocated, created} {
				accumulateIn(t, world, w)
			}
			ok(t, allocated.Free())
			ok(t, created.Free())
		})
	}
}

func accumulateIn(t testing.TB, c *mpi.Comm, w mpi.Win[float64]) {
	to := (c.Rank() + 1) % c.Size()
	ok(t, w.LockAll(0))
	for _, length := range []int{1, 3, 300} {
		for _, o := range []mpi.Op{mpi.Sum, mpi.Prod} {
			start := odd[float64](length, 0, length)
			ok(t, w.Put(start, to, 0))
			ok(t, w.Flush(to))
			want := slices.Clone(start)
			step := func(e op.Env, with []float64) {
				left := slices.Clone(want)
				want = slices.Clone(with)
				ok(t, mpi.ReduceLocal(left, want, mpi.Internals.In(o, e)))
			}
			for i, e := range environments { // several pending, in different environments
				with := odd[float64](length, i, i)
				ok(t, w.Accumulate(with, to, 0, mpi.Internals.In(o, e)))
				step(e, with)
			}
			ok(t, w.Flush(to))
			for i, e := range environments {
				with, was := odd[float64](length, i+1, i), make([]float64, length)
				ok(t, w.GetAccumulate(with, was, to, 0, mpi.Internals.In(o, e)))
				ok(t, w.Flush(to))
				if !sameBits(was, want) {
					t.Errorf("rank %d: %d before %v in %#x: %v, not %v", c.Rank(), length, o, e, was[:1], want[:1])
				}
				step(e, with)
				if length == 1 {
					ok(t, w.FetchAndOp(&with[0], &was[0], to, 0, mpi.Internals.In(o, e)))
					ok(t, w.Flush(to))
					if !sameBits(was, want) {
						t.Errorf("rank %d: before FetchAndOp of %v in %#x: %v, not %v", c.Rank(), o, e, was, want)
					}
					step(e, with)
				}
			}
			got := make([]float64, length)
			ok(t, w.Get(got, to, 0))
			ok(t, w.Flush(to))
			if !sameBits(got, want) {
				t.Errorf("rank %d: %d after all %v: %v, not %v", c.Rank(), length, o, got[:1], want[:1])
			}
		}
	}
	ok(t, w.UnlockAll())
	ok(t, c.Barrier())
}
