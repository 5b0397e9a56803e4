package mpi_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// COL-04, COL-07: the operation gets the type that was passed to the reduction, with the same
// handle, and can act on it: for pairs of doubles it computes products of 100 complex numbers,
// as in example 6.20 (5.20 of MPI-3).
func TestCOL04_COL07_OperationByType(t *testing.T) {
	double := must(mpi.TypeOf[float64]())
	complexType := must(mpi.TypeContiguous(2, double))
	if err := complexType.Commit(); err != nil {
		t.Fatal(err)
	}
	product := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
		switch inout.Datatype() {
		case complexType:
			a, _ := mpi.MemoryOf[complex128](in)
			b, _ := mpi.MemoryOf[complex128](inout)
			for i := range inout.Len() {
				b[i] *= a[i]
			}
		case double:
			a, _ := mpi.MemoryOf[float64](in)
			b, _ := mpi.MemoryOf[float64](inout)
			for i := range inout.Len() {
				b[i] += 1000 * a[i]
			}
		default:
			panic("a type that nobody gave")
		}
	}, true)
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		const n, root = 100, 1
		mine, answer, want := make([]complex128, n), make([]complex128, n), make([]complex128, n)
		for i := range want {
			want[i] = 1
			for r := range c.Size() {
				z := complex(float64(r+1), float64(i-r))
				want[i] *= z
				if r == c.Rank() {
					mine[i] = z
				}
			}
		}
		err := c.Reduce(mpi.BufOf(mine, n, complexType), mpi.BufOf(answer, n, complexType), product, root)
		if err != nil || c.Rank() == root && !slices.Equal(answer, want) {
			t.Errorf("the product on rank %d is %v (%v), want %v", c.Rank(), answer, err, want)
		}
		// With slices the operation gets the type, too.
		sum := []float64{float64(c.Rank() + 1)}
		if err := mpi.Scan(c, sum, sum, product); err != nil || sum[0] != []float64{1, 1002, 1002003}[c.Rank()] {
			t.Errorf("scan by another type on rank %d: %v, %v", c.Rank(), sum, err)
		}
		local := []float64{1}
		if err := mpi.ReduceLocal([]float64{2}, local, product); err != nil || local[0] != 2001 {
			t.Errorf("ReduceLocal: %v, %v", local, err)
		}
		if err := mpi.ReduceLocal([]int{1}, []int{2}, product); !errors.Is(err, mpi.ErrOther) {
			t.Errorf("a type that the operation does not know: %v", err)
		}
	})
}

// COL-03: the parts with which the operation is called add up to all elements, for many elements
// and for long ones.
func TestCOL03_ChunksAddUp(t *testing.T) {
	far := must(mpi.TypeResized(must(mpi.TypeVector(2, 1, 1001, must(mpi.TypeOf[float64]()))), 0, 16))
	if err := far.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, typ := range []mpi.Datatype{must(mpi.TypeOf[float64]()), must(mpi.TypeOf[rule]()), far} {
		mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
			var seen atomic.Int64
			count := mpi.CreateOpFunc(func(in, inout mpi.Buffer) { seen.Add(int64(inout.Len())) }, true)
			const n = 3000
			mem := make([]float64, 8*n)
			if err := c.Scan(mpi.BufOf(mem, n, typ), mpi.BufOf(make([]float64, 8*n), n, typ), count); err != nil {
				t.Fatal(err)
			}
			total, err := mpi.AllreduceOne(c, seen.Load(), mpi.Sum)
			if err != nil || total < n || total%n != 0 {
				t.Errorf("%v: %d elements in all for %d (%v)", typ, total, n, err)
			}
		})
	}
}

// COL-13: a user-defined operation that computes Maxloc has the same result, on slices and on
// Buffers of the type of pairs.
func TestCOL13_OwnMaxloc(t *testing.T) {
	type pair = mpi.ValueIndex[float64, int]
	own := mpi.CreateOp(func(in, inout []pair) {
		for i := range inout {
			if in[i].Value > inout[i].Value || in[i].Value == inout[i].Value && in[i].Index < inout[i].Index {
				inout[i] = in[i]
			}
		}
	}, true)
	any := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
		a, _ := mpi.MemoryOf[pair](in)
		b, _ := mpi.MemoryOf[pair](inout)
		if err := mpi.ReduceLocal(a[:in.Len()], b[:in.Len()], own); err != nil {
			panic(err)
		}
	}, true)
	mpitest.Run(t, 4, func(t testing.TB, c *mpi.Comm) {
		g := rand.New(rand.NewPCG(uint64(c.Rank()), 3))
		mine := make([]pair, 50)
		for i := range mine {
			mine[i] = pair{Value: float64(g.IntN(3)), Index: g.IntN(100)}
		}
		var results [7][]pair
		for i := range results {
			results[i] = make([]pair, len(mine))
		}
		for i, err := range []error{
			mpi.Allreduce(c, mine, results[0], mpi.Maxloc), mpi.Allreduce(c, mine, results[1], own),
			c.Allreduce(mpi.Buf(mine), mpi.Buf(results[2]), mpi.Maxloc), c.Allreduce(mpi.Buf(mine), mpi.Buf(results[3]), own),
			mpi.Allreduce(c, mine, results[4], any), either(c, mine, results[5], own), either(c, mine, results[6], any),
		} {
			if err != nil || !slices.Equal(results[i], results[0]) {
				t.Errorf("%d: %v, %v, want %v", i, results[i], err, results[0])
			}
		}
	})
}

// either passes slices at some ranks and Buffers at others.
func either[T mpi.Elem](c *mpi.Comm, send, recv []T, o mpi.Op) error {
	if c.Rank()%2 == 0 {
		return waited(mpi.Iallreduce(c, send, recv, o))
	}
	return waited(c.Iallreduce(mpi.Buf(send), mpi.Buf(recv), o))
}

// COL-10: ReduceLocal on Buffers of any types computes inout = in op inout, and does not change
// gaps between elements.
func TestCOL10_ReduceLocalOnLayouts(t *testing.T) {
	places := ruleTypes()
	var order []mpi.Datatype
	for typ := range places {
		order = append(order, typ)
	}
	g := rand.New(rand.NewPCG(5, 6))
	ops := []mpi.Op{mpi.CreateOp(composeRules, false), composeAnywhere(places)}
	for range 300 {
		n := []int{0, 1, 5, 2500}[g.IntN(4)]
		in, inout := newField(g, places, order, n), newField(g, places, order, n+g.IntN(2))
		left, right, all := make([]rule, n), make([]rule, n), make([]rule, n)
		for i := range all {
			left[i], right[i] = rule{1, g.Uint32(), uint16(g.Uint32())}, rule{2, g.Uint32(), uint16(g.Uint32())}
			all[i] = left[i].after(right[i])
		}
		in.load(left)
		inout.load(right)
		want := &field{mem: bytes.Clone(inout.mem), origin: inout.origin, at: inout.at}
		want.load(all)
		before := bytes.Clone(in.mem)
		if err := ops[g.IntN(2)].ReduceLocal(in.buffer(), inout.buffer()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(inout.mem, want.mem) || !bytes.Equal(in.mem, before) {
			t.Fatalf("%d elements of %v and of %v: wrong result", n, in.typ, inout.typ)
		}
	}
}

// MemoryOf returns the memory as elements of T, if it is aligned for T.
func TestMemoryOf(t *testing.T) {
	type odd struct{ a, b, c uint8 }
	mem := make([]byte, 64)
	for i := range mem {
		mem[i] = byte(i)
	}
	part := must(mpi.TypeHindexed([]int{1, 1}, []int{-8, 4}, must(mpi.TypeOf[int32]())))
	if err := part.Commit(); err != nil {
		t.Fatal(err)
	}
	b := mpi.BufAt(mem, 20, 2, part) // from byte 12 on: -8 to 8, twice
	if m, origin := mpi.MemoryOf[byte](b); origin != 8 || len(m) != 32 || m[0] != 12 {
		t.Errorf("bytes: %v, %d", m, origin)
	}
	if m, origin := mpi.MemoryOf[odd](b); origin != 2 || len(m) != 10 || m[origin] != (odd{20, 21, 22}) {
		t.Errorf("elements of 3 bytes: %v, %d", m, origin)
	}
	whole := make([]rule, 5)
	if m, origin := mpi.MemoryOf[rule](mpi.Buf(whole[1:3])); origin != 0 || len(m) != 2 || &m[0] != &whole[1] {
		t.Errorf("the slice itself: %d elements, %d", len(m), origin)
	}
	for what, m := range map[string]int{
		"pointers": lenOf(mpi.MemoryOf[*int](b)), "nothing": lenOf(mpi.MemoryOf[byte](mpi.Buffer{})),
		"too long": lenOf(mpi.MemoryOf[[40]byte](b)), "no element": lenOf(mpi.MemoryOf[byte](mpi.Buf([]int{}))),
		"misaligned": lenOf(mpi.MemoryOf[int64](mpi.BufOf(mem[1:9], 1, must(mpi.TypeOf[int64]())))),
		"an error":   lenOf(mpi.MemoryOf[byte](mpi.BufOf(mem, 65, mpi.Byte()))),
	} {
		if m != 0 {
			t.Errorf("%s: %d elements", what, m)
		}
	}
}

func lenOf[T any](mem []T, _ int) int { return len(mem) }

// Bad input: each error has its class and a reason, on all ranks or where it occurs; after that
// the ranks' reductions still match.
func TestErrorsOfReductionsOfBuffers(t *testing.T) {
	double := must(mpi.TypeOf[float64]())
	derived := must(mpi.TypeContiguous(2, double))
	uncommitted := must(mpi.TypeVector(2, 1, 2, double))
	twice := must(mpi.TypeResized(double, 0, 4))
	inside := must(mpi.TypeIndexed([]int{1, 1}, []int{0, 0}, double))
	empty := must(mpi.TypeContiguous(0, double))
	for _, d := range []mpi.Datatype{derived, twice, inside, empty} {
		if err := d.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	any := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {}, true)
	freed := any
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	any = mpi.CreateOpFunc(func(in, inout mpi.Buffer) {}, true)
	forRules := mpi.CreateOp(composeRules, false)
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		a, b := make([]float64, 8), make([]float64, 8)
		send, recv := mpi.Buf(a), mpi.Buf(b)
		char := mpi.BufOf(make([]byte, 4), 4, must(mpi.Predefined("MPI_CHARACTER")))
		for _, x := range []struct {
			what string
			err  error
			want mpi.Class
			text string
		}{
			{"characters", c.Allreduce(char, char, mpi.Sum), mpi.ErrOp, "operation Sum is not defined on elements of MPI_CHARACTER"},
			{"bytes", c.Scan(mpi.BufOf(a, 1, mpi.Byte()), mpi.BufOf(b, 1, mpi.Byte()), mpi.Prod), mpi.ErrOp, "Prod is not defined on elements of MPI_BYTE"},
			{"derived", c.Reduce(mpi.BufOf(a, 1, derived), mpi.BufOf(b, 1, derived), mpi.Max, 0), mpi.ErrOp, "which is derived"},
			{"result derived", c.Exscan(mpi.BufOf(a, 1, double), mpi.BufOf(b, 1, must(resized(double, 16))), mpi.Max), mpi.ErrOp, "which is derived"},
			{"null", c.Allreduce(send, recv, mpi.OpNull), mpi.ErrOp, "the operation is null"},
			{"freed", waited(c.Iallreduce(send, recv, freed)), mpi.ErrOp, "has been freed"},
			{"Replace", c.Allreduce(send, recv, mpi.Replace), mpi.ErrOp, "one-sided"},
			{"null on nothing", c.Allreduce(mpi.Buffer{}, mpi.Buffer{}, mpi.OpNull), mpi.ErrOp, "null"},
			{"another's elements", c.Allreduce(send, recv, forRules), mpi.ErrOp, "made for elements of mpi_test.rule, not of 1 x MPI_DOUBLE"},
			{"two types", c.Allreduce(send, mpi.Buf(make([]int64, 8)), mpi.Sum), mpi.ErrType, "elements to reduce are 1 x MPI_DOUBLE, elements of the result are 1 x MPI_INT64_T"},
			{"uncommitted", c.Allreduce(mpi.BufOf(a, 1, uncommitted), recv, any), mpi.ErrType, "not committed"},
			{"uncommitted result", waited(c.Iscan(send, mpi.BufOf(b, 1, uncommitted), any)), mpi.ErrType, "not committed"},
			{"result upon result", c.Allreduce(mpi.BufOf(a, 4, double), mpi.BufOf(b, 4, twice), any), mpi.ErrType, "overlap"},
			{"operands upon themselves", c.Allreduce(mpi.BufOf(a, 1, inside), mpi.BufOf(b, 1, inside), any), mpi.ErrType, "occur twice in an element"},
			{"short", c.Allreduce(send, mpi.Buf(b[:7]), mpi.Sum), mpi.ErrCount, "of 7 elements for 8"},
			{"short for any", c.Scan(mpi.BufOf(a, 4, derived), mpi.BufOf(b, 3, derived), any), mpi.ErrCount, "buffer of 3 elements for 4"},
			{"overlapping", c.Allreduce(mpi.Buf(a[:4]), mpi.Buf(a[1:5]), any), mpi.ErrBuffer, "overlap in part"},
			{"root", c.Reduce(send, recv, any, 2), mpi.ErrRoot, "root 2 in a communicator of 2"},
			{"blocks", c.ReduceScatterBlock(mpi.Buf(a[:7]), recv, any), mpi.ErrCount, "7 elements is not a block for each of 2"},
			{"counts", c.ReduceScatter(send, recv, []int{4, 5}, any), mpi.ErrCount, "block of rank 1: 5 elements at 4"},
			{"persistent", func() error { r := c.AllreduceInit(send, mpi.Buf(b[:1]), any); return r.Start() }(), mpi.ErrCount, "of 1 elements for 8"},
			{"locally in place", mpi.Sum.ReduceLocal(send, send), mpi.ErrBuffer, "share memory"},
			{"locally in place by types", any.ReduceLocal(mpi.BufOf(a, 1, derived), mpi.BufOf(a, 1, derived)), mpi.ErrBuffer, "share memory"},
			{"locally short", any.ReduceLocal(send, mpi.Buf(b[:3])), mpi.ErrCount, "inout buffer has 3 elements, want 8"},
			{"locally upon itself", any.ReduceLocal(mpi.BufOf(a, 4, double), mpi.BufOf(b, 4, twice)), mpi.ErrType, "occur twice"},
			{"locally two types", any.ReduceLocal(send, mpi.Buf(make([]int32, 8))), mpi.ErrType, "elements of the result"},
			{"locally derived", mpi.Sum.ReduceLocal(mpi.BufOf(a, 1, derived), mpi.BufOf(b, 1, derived)), mpi.ErrOp, "derived"},
			{"locally uncommitted", any.ReduceLocal(mpi.BufOf(a, 1, uncommitted), recv), mpi.ErrType, "not committed"},
			{"locally a panic", mpi.CreateOpFunc(func(in, inout mpi.Buffer) { panic("no") }, true).ReduceLocal(send, recv), mpi.ErrOther, "the operation panicked: no"},
		} {
			if !errors.Is(x.err, x.want) || !strings.Contains(x.err.Error(), x.text) {
				t.Errorf("%s: %v, want %v with %q", x.what, x.err, x.want, x.text)
			}
		}
		if err := c.Allreduce(mpi.Buffer{}, mpi.Buffer{}, mpi.Sum); err != nil {
			t.Errorf("nothing: %v", err)
		}
		if err := c.Allreduce(mpi.BufOf(a, 3, empty), mpi.BufOf(b, 3, empty), any); err != nil {
			t.Errorf("elements without data: %v", err)
		}
		if err := c.ReduceScatter(mpi.BufOf(a, 3, empty), mpi.BufOf(b, 3, empty), []int{1, 2}, any); err != nil {
			t.Errorf("blocks without data: %v", err)
		}
		if err := any.ReduceLocal(mpi.BufOf(a, 3, empty), mpi.BufOf(b, 3, empty)); err != nil {
			t.Errorf("locally without data: %v", err)
		}
		if err := c.Allreduce(mpi.Buffer{}, mpi.Buffer{}, forRules); err != nil {
			t.Errorf("nothing by an operation: %v", err)
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 2 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// resized is a committed type with another extent.
func resized(d mpi.Datatype, extent int) (mpi.Datatype, error) {
	r, err := mpi.TypeResized(d, 0, extent)
	if err == nil {
		err = r.Commit()
	}
	return r, err
}

// Bad input: an operation on layouts that panics on one rank is ErrOther there, no rank hangs,
// and the next reduction is correct.
func TestOperationOnLayoutsThatPanics(t *testing.T) {
	wide := must(resized(must(mpi.TypeOf[float64]()), 24))
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		var called atomic.Bool
		bad := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
			if c.Rank() == 2 {
				called.Store(true)
				panic(errors.ErrUnsupported)
			}
		}, false)
		for _, count := range []int{1, 5000} {
			send, recv := make([]float64, 3*count), make([]float64, 3*count)
			from, to := mpi.BufOf(send, count, wide), mpi.BufOf(recv, count, wide)
			for _, call := range []func() error{
				func() error { return c.Scan(from, to, bad) },
				func() error { return waited(c.Iallreduce(from, to, bad)) },
			} {
				called.Store(false)
				if err := call(); errors.Is(err, mpi.ErrOther) != called.Load() || called.Load() && !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("%d elements on rank %d: %v, operation called %v", count, c.Rank(), err, called.Load())
				}
			}
		}
		if sum, err := mpi.AllreduceOne(c, 1, mpi.Sum); err != nil || sum != 3 {
			t.Errorf("afterwards: %d, %v", sum, err)
		}
	})
}

// A type and an operation may be freed while reductions with them are pending: the Buffer and
// the call keep what they need.
func TestReductionOutlivesTypeAndOperation(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		wide := must(resized(must(mpi.TypeOf[float64]()), 16))
		sum := mpi.CreateOpFunc(func(in, inout mpi.Buffer) {
			a, _ := mpi.MemoryOf[float64](in)
			b, _ := mpi.MemoryOf[float64](inout)
			for i := range inout.Len() {
				b[2*i] += a[2*i]
			}
		}, true)
		mem := []float64{1, -1, 2, -1}
		q := c.AllreduceInit(mpi.BufOf(mem, 2, wide), mpi.BufOf(mem, 2, wide), sum)
		if err := errors.Join(wide.Free(), sum.Free()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := q.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := q.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Free(); err != nil || !slices.Equal(mem, []float64{4, -1, 8, -1}) {
			t.Errorf("%v, %v", mem, err)
		}
	})
}

// Reductions of Buffers by predefined operations allocate nothing in any form, like those of
// slices.
func TestReductionsOfBuffersAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	const runs = 500
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		a, b := mpi.Buf(make([]float64, 4)), mpi.Buf(make([]float64, 4))
		pairs := mpi.Buf(make([]mpi.ValueIndex[float64, int32], 4))
		counts := []int{2, 2}
		step := func() {
			for _, err := range [...]error{
				c.Allreduce(a, b, mpi.Sum), c.Reduce(a, b, mpi.Max, 1), c.Scan(a, b, mpi.Sum), c.Exscan(a, b, mpi.Sum),
				c.ReduceScatterBlock(a, b, mpi.Min), c.ReduceScatter(a, b, counts, mpi.Min), c.Allreduce(pairs, pairs, mpi.Maxloc),
				waited(c.Iallreduce(a, b, mpi.Sum)),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		}
		for range runs {
			step()
		}
		if c.Rank() != 0 {
			for range runs + 1 {
				step()
			}
		} else if n := testing.AllocsPerRun(runs, step); n >= 1 {
			t.Errorf("%v allocations per run", n)
		}
	})
	in, inout := mpi.Buf(make([]float32, 100)), mpi.Buf(make([]float32, 100))
	if n := testing.AllocsPerRun(100, func() {
		if err := mpi.Max.ReduceLocal(in, inout); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("ReduceLocal: %v allocations", n)
	}
}
