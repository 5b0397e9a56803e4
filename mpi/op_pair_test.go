package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// located finds the extremes of the ranks' pairs; number orders them.
func located[P interface {
	mpi.Elem
	comparable
}](t testing.TB, c *mpi.Comm, give func(r int) P, number func(p P) float64) {
	low, high := give(0), give(0) // of equal values the smallest index, because indices grow with ranks
	for r := 1; r < c.Size(); r++ {
		if p := give(r); number(p) < number(low) {
			low = p
		}
		if p := give(r); number(p) > number(high) {
			high = p
		}
	}
	check := func(o mpi.Op, want P) {
		if got, err := mpi.AllreduceOne(c, give(c.Rank()), o); err != nil || got != want {
			t.Errorf("%v of %T: %v, %v, want %v", o, want, got, err, want)
		}
		send, recv := make([]P, 3000), make([]P, 3000) // too long for a slot
		for i := range send {
			send[i] = give(c.Rank())
		}
		if err := mpi.Reduce(c, send, recv, o, 0); err != nil || c.Rank() == 0 && recv[2999] != want {
			t.Errorf("%v of many %T: %v, %v, want %v", o, want, recv[2999], err, want)
		}
	}
	check(mpi.Minloc, low)
	check(mpi.Maxloc, high)
	// A user-defined operation has the same result.
	check(mpi.CreateOp(func(in, inout []P) {
		for i, p := range in {
			if number(p) >= number(inout[i]) { // of equal values that of the lowest rank
				inout[i] = p
			}
		}
	}, false), high)
}

// COL-13, DT-05, X-TYP-01: the extremes with their indices, on pairs of all kinds.
func TestCOL13_MinlocMaxloc(t *testing.T) {
	mpitest.Run(t, 5, func(t testing.TB, c *mpi.Comm) {
		v := []int{7, 3, 9, 3, 9} // ties: ranks 1 and 3, 2 and 4
		located(t, c, func(r int) mpi.ValueIndex[float32, int32] {
			return mpi.ValueIndex[float32, int32]{float32(-v[r]) / 4, int32(r)}
		}, func(p mpi.ValueIndex[float32, int32]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[float64, int] {
			return mpi.ValueIndex[float64, int]{float64(v[r]) * 1e-300, r}
		}, func(p mpi.ValueIndex[float64, int]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[float64, int64] {
			return mpi.ValueIndex[float64, int64]{float64(v[r]), int64(r - 9)}
		}, func(p mpi.ValueIndex[float64, int64]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[int64, int] {
			return mpi.ValueIndex[int64, int]{int64(v[r]) << 50, r}
		}, func(p mpi.ValueIndex[int64, int]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[int32, int32] { return mpi.ValueIndex[int32, int32]{int32(-v[r]), int32(r)} }, func(p mpi.ValueIndex[int32, int32]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[uint32, int32] {
			return mpi.ValueIndex[uint32, int32]{uint32(v[r]) << 8, int32(r)}
		}, func(p mpi.ValueIndex[uint32, int32]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[int, int] { return mpi.ValueIndex[int, int]{v[r], r} }, func(p mpi.ValueIndex[int, int]) float64 { return float64(p.Value) })
		located(t, c, func(r int) mpi.ValueIndex[uint, int] { return mpi.ValueIndex[uint, int]{uint(v[r]+100) << 4, r} }, func(p mpi.ValueIndex[uint, int]) float64 { return float64(p.Value) })
		nan, err := mpi.AllreduceOne(c, mpi.ValueIndex[float64, int]{math.Sqrt(float64(1 - c.Rank())), c.Rank()}, mpi.Minloc)
		if err != nil || nan.Value == nan.Value || nan.Index != 2 {
			t.Errorf("with NaNs from rank 2 on: %v, %v", nan, err)
		}
		two, err := mpi.AllreduceOne(c, mpi.ValueIndex[float32, float32]{1, float32(10 - c.Rank())}, mpi.Maxloc)
		if err != nil || two.Index != 6 {
			t.Errorf("2REAL: %v, %v", two, err)
		}
		all, err := mpi.AllgatherOne(c, mpi.ValueIndex[int64, int]{int64(c.Rank()), -1})
		if err != nil || all[4] != (mpi.ValueIndex[int64, int]{4, -1}) {
			t.Errorf("Allgather: %v, %v", all, err)
		}
	})
}

// COL-14, DT-05: other operations on pairs, Minloc and Maxloc on numbers, and Replace and NoOp
// in a reduction are ErrOp. Pairs have the size of C's.
func TestPairErrors(t *testing.T) {
	type pair = mpi.ValueIndex[float64, int]
	p, x := []pair{{1, 2}}, []float64{1}
	for what, err := range map[string]error{
		"Sum of pairs":      mpi.ReduceLocal(p, make([]pair, 1), mpi.Sum),
		"Minloc of numbers": mpi.ReduceLocal(x, make([]float64, 1), mpi.Minloc),
		"Replace":           mpi.ReduceLocal(x, make([]float64, 1), mpi.Replace),
		"NoOp":              mpi.ReduceLocal(x, make([]float64, 1), mpi.NoOp),
	} {
		if !errors.Is(err, mpi.ErrOp) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, s := range [][2]uintptr{
		{unsafe.Sizeof(mpi.ValueIndex[float32, int32]{}), 8},
		{unsafe.Sizeof(mpi.ValueIndex[float64, int32]{}), 16},
		{unsafe.Sizeof(mpi.ValueIndex[int16, int32]{}), 8},
		{unsafe.Sizeof(mpi.ValueIndex[int64, int32]{}), 16},
	} {
		if s[0] != s[1] {
			t.Errorf("%d bytes, want %d", s[0], s[1])
		}
	}
	least := []pair{{2, 1}}
	if n := testing.AllocsPerRun(100, func() { _ = mpi.ReduceLocal(p, least, mpi.Minloc) }); n != 0 || least[0] != p[0] {
		t.Errorf("%v allocations for %v", n, least)
	}
}

// meets sends pairs as a slice and receives them into a Buffer, and the other way round.
func meets[P mpi.Elem](t testing.TB, c *mpi.Comm, some []P) {
	got := make([]P, len(some))
	var err error
	if c.Rank() == 0 {
		err = errors.Join(mpi.Send(c, some, 1, 0), c.Send(mpi.Buf(some), 1, 0))
		copy(got, some)
	} else {
		_, first := c.Recv(mpi.Buf(got), 0, 0)
		_, second := mpi.Recv(c, got[len(got)/2:], 0, 0)
		err = first
		if !errors.Is(second, mpi.ErrTruncate) {
			t.Errorf("%v: %v", got, second)
		}
		copy(got[len(got)/2:], some[len(got)/2:])
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(some) {
		t.Errorf("%v, %v, want %v", got, err, some)
	}
}

// DT-05, DT-16: an element of a slice has no padding, so that slices match Buffers.
func TestDT16_PairsInSlicesAndBuffers(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		meets(t, c, []mpi.ValueIndex[float32, int32]{{1, 2}, {3, 4}})
		meets(t, c, []mpi.ValueIndex[float64, int]{{1, 2}, {3, 4}})
		meets(t, c, []mpi.ValueIndex[int, int64]{{1, 2}, {3, 4}})
		meets(t, c, []mpi.ValueIndex[uint32, int32]{{1, 2}, {3, 4}})
		meets(t, c, []mpi.ValueIndex[float64, float64]{{1, 2}, {3, 4}})
	})
}
