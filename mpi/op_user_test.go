package mpi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// A chain is the map x -> factor*x + summand of 32-bit numbers, as one number.
type chain uint64

func (f chain) after(g chain) chain {
	a, d, b, c := uint32(f>>32), uint32(f), uint32(g>>32), uint32(g)
	return chain(a*b)<<32 | chain(a*c+d)
}

// compose combines maps; it is associative but not commutative.
func compose(in, inout []chain) {
	for i := range inout {
		inout[i] = in[i].after(inout[i])
	}
}

// COL-01, COL-02: a user-defined operation works in all reductions in all forms, and combines in
// the order of the ranks.
func TestCOL02_UserOperation(t *testing.T) {
	op := mpi.CreateOp(compose, false)
	for _, n := range []int{1, 2, 5} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			me, root := c.Rank(), n-1
			gives := func(r, size int) []chain {
				s := make([]chain, size)
				for i := range s {
					s[i] = chain(r+2)<<32 | chain(1000*r+i)
				}
				return s
			}
			upTo := func(last, size int) []chain {
				all := gives(0, size)
				for r := 1; r <= last; r++ {
					for i, g := range gives(r, size) {
						all[i] = all[i].after(g)
					}
				}
				return all
			}
			var recv []chain
			check := func(what string, want []chain, calls []collectiveForm) {
				for _, x := range calls {
					recv = make([]chain, len(want))
					if err := x.call(); err != nil || !slices.Equal(recv, want) {
						t.Errorf("%s %s on rank %d of %d: %v, %v, want %v", x.form, what, me, n, recv, err, want)
					}
				}
			}
			const k = 3
			result := upTo(n-1, k)
			if me != root {
				result = make([]chain, k)
			}
			check("Reduce", result, collectiveForms(
				func() error { return mpi.Reduce(c, gives(me, k), recv, op, root) },
				func() mpi.Request { return mpi.Ireduce(c, gives(me, k), recv, op, root) },
				func() mpi.Request { return mpi.ReduceInit(c, gives(me, k), recv, op, root) }))
			check("Allreduce", upTo(n-1, k), collectiveForms(
				func() error { return mpi.Allreduce(c, gives(me, k), recv, op) },
				func() mpi.Request { return mpi.Iallreduce(c, gives(me, k), recv, op) },
				func() mpi.Request { return mpi.AllreduceInit(c, gives(me, k), recv, op) }))
			check("Scan", upTo(me, k), collectiveForms(
				func() error { return mpi.Scan(c, gives(me, k), recv, op) },
				func() mpi.Request { return mpi.Iscan(c, gives(me, k), recv, op) },
				func() mpi.Request { return mpi.ScanInit(c, gives(me, k), recv, op) }))
			before := make([]chain, k)
			if me > 0 {
				before = upTo(me-1, k)
			}
			check("Exscan", before, collectiveForms(
				func() error { return mpi.Exscan(c, gives(me, k), recv, op) },
				func() mpi.Request { return mpi.Iexscan(c, gives(me, k), recv, op) },
				func() mpi.Request { return mpi.ExscanInit(c, gives(me, k), recv, op) }))
			block := upTo(n-1, k*n)[me*k : (me+1)*k]
			check("ReduceScatterBlock", block, collectiveForms(
				func() error { return mpi.ReduceScatterBlock(c, gives(me, k*n), recv, op) },
				func() mpi.Request { return mpi.IreduceScatterBlock(c, gives(me, k*n), recv, op) },
				func() mpi.Request { return mpi.ReduceScatterBlockInit(c, gives(me, k*n), recv, op) }))
			counts := slices.Repeat([]int{k}, n)
			check("ReduceScatter", block, collectiveForms(
				func() error { return mpi.ReduceScatter(c, gives(me, k*n), recv, counts, op) },
				func() mpi.Request { return mpi.IreduceScatter(c, gives(me, k*n), recv, counts, op) },
				func() mpi.Request { return mpi.ReduceScatterInit(c, gives(me, k*n), recv, counts, op) }))
		})
	}
}

// Bad input: an operation that is null, freed, made for other elements, or that panics is an
// error of the call, and the ranks' collectives still match.
func TestUserOperationErrors(t *testing.T) {
	unchecked(t)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		b := make([]float64, 2)
		sum := mpi.CreateOp(func(in, inout []float64) {
			for i := range inout {
				inout[i] += in[i]
			}
		}, true)
		freed := sum
		pending := mpi.Iallreduce(c, []float64{1, 2}, b, sum)
		if err := sum.Free(); err != nil || !sum.IsNull() {
			t.Errorf("Free: %v, null %v", err, sum.IsNull())
		}
		if err := waited(pending); err != nil || b[0] != 2 || b[1] != 4 {
			t.Errorf("freed while under way: %v, %v", b, err)
		}
		predefined := mpi.Sum
		bad := mpi.CreateOp(func(in, inout []float64) {
			if c.Rank() == 0 {
				panic("division by cucumber")
			}
		}, true)
		for what, x := range map[string]struct {
			err  error
			want mpi.Class
			text string
		}{
			"null":       {mpi.Allreduce(c, b, b, mpi.OpNull), mpi.ErrOp, "Allreduce on world: the operation is null"},
			"freed":      {mpi.Scan(c, b, b, freed), mpi.ErrOp, "freed"},
			"nil":        {mpi.Reduce(c, b, b, mpi.CreateOp[int](nil, true), 0), mpi.ErrOp, "null"},
			"elements":   {mpi.Reduce(c, []int{1}, []int{0}, bad, 0), mpi.ErrOp, "made for elements of float64, not of int"},
			"free twice": {freed.Free(), mpi.ErrOp, "Free: the operation has been freed"},
			"free null":  {sum.Free(), mpi.ErrOp, "Free: the operation is null"},
			"free Sum":   {predefined.Free(), mpi.ErrOp, "operation Sum is predefined"},
		} {
			if !errors.Is(x.err, x.want) || !strings.Contains(x.err.Error(), x.text) {
				t.Errorf("%s: %v, want %v with %q", what, x.err, x.want, x.text)
			}
		}
		for _, err := range []error{
			mpi.Reduce(c, b, b, bad, 0),
			mpi.ReduceScatterBlock(c, b, make([]float64, 1), bad),
		} {
			if c.Rank() == 0 && (!errors.Is(err, mpi.ErrOther) || !strings.Contains(err.Error(), "the operation panicked: division by cucumber")) {
				t.Errorf("an operation that panics: %v", err)
			}
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 2 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// COL-09: the result of an allreduce is the same on all ranks, even if the operation claims to
// be commutative but prefers one of two equal operands.
func TestCOL09_UserOperationIsTheSameEverywhere(t *testing.T) {
	longest := mpi.CreateOp(func(in, inout []uint32) { // the upper half is compared, the lower identifies the rank
		for i := range inout {
			if in[i]>>16 >= inout[i]>>16 {
				inout[i] = in[i]
			}
		}
	}, true)
	for _, n := range []int{2, 3, 5, 8} {
		mpitest.Run(t, n, func(t testing.TB, c *mpi.Comm) {
			for _, count := range []int{1, 3000, 40_000} {
				v := make([]uint32, count)
				for i := range v {
					v[i] = uint32(i%7)<<16 | uint32(c.Rank())
				}
				if err := mpi.Allreduce(c, v, v, longest); err != nil {
					t.Fatal(err)
				}
				first := slices.Clone(v)
				if err := mpi.Bcast(c, first, 0); err != nil || !slices.Equal(first, v) {
					t.Errorf("%d elements: rank %d of %d has others than rank 0 (%v)", count, c.Rank(), n, err)
				}
			}
		})
	}
}

// COL-11: predefined operations are commutative, others as specified when they were made.
func TestCOL11_Commutative(t *testing.T) {
	for _, o := range []mpi.Op{mpi.Sum, mpi.Max, mpi.Lxor, mpi.Bor, mpi.CreateOp(compose, true)} {
		if !o.Commutative() {
			t.Errorf("%v is not commutative", o)
		}
	}
	if mpi.CreateOp(compose, false).Commutative() || mpi.OpNull.Commutative() {
		t.Error("an operation made without commute, or none, is commutative")
	}
}
