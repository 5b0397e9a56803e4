package mpi_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// contents lists the members of g by their ranks in world, which is all that the public
// interface tells of a group.
func contents(t testing.TB, g, world mpi.Group) []int {
	t.Helper()
	own := make([]int, g.Size())
	for i := range own {
		own[i] = i
	}
	all, err := g.TranslateRanks(own, world)
	ok(t, err)
	return all
}

// 7.3: random expressions of groups, compared with lists of numbers.
func TestCOM04_GroupAlgebra(t *testing.T) {
	const n, steps = 5, 400
	mpitest.On(t, "inproc", n, func(t testing.TB, c *mpi.Comm) {
		world, err := c.Group()
		ok(t, err)
		rng := rand.New(rand.NewPCG(7, uint64(c.Rank())))
		groups := []mpi.Group{world, mpi.GroupEmpty}
		lists := [][]int{{0, 1, 2, 3, 4}, nil}
		for step := range steps {
			i, j := rng.IntN(len(groups)), rng.IntN(len(groups))
			g, h, a, b := groups[i], groups[j], lists[i], lists[j]
			var got mpi.Group
			var want []int
			var err error
			what := ""
			pick := func() (ranks []int) { // some ranks of g, in any order
				ranks = rng.Perm(len(a))
				return ranks[:rng.IntN(len(a)+1)]
			}
			switch rng.IntN(7) {
			case 0:
				what = "Union"
				got, err = g.Union(h)
				want = slices.Clone(a)
				for _, p := range b {
					if !slices.Contains(a, p) {
						want = append(want, p)
					}
				}
			case 1:
				what = "Intersection"
				got, err = g.Intersection(h)
				for _, p := range a {
					if slices.Contains(b, p) {
						want = append(want, p)
					}
				}
			case 2:
				what = "Difference"
				got, err = g.Difference(h)
				for _, p := range a {
					if !slices.Contains(b, p) {
						want = append(want, p)
					}
				}
			case 3:
				ranks := pick()
				what = fmt.Sprint("Incl ", ranks)
				got, err = g.Incl(ranks)
				for _, r := range ranks {
					want = append(want, a[r])
				}
			case 4:
				ranks := pick()
				what = fmt.Sprint("Excl ", ranks)
				got, err = g.Excl(ranks)
				for r, p := range a {
					if !slices.Contains(ranks, r) {
						want = append(want, p)
					}
				}
			default:
				if len(a) == 0 {
					continue
				}
				r := mpi.Range{First: rng.IntN(len(a)), Last: rng.IntN(len(a)), Stride: 1 + rng.IntN(3)}
				if r.First > r.Last {
					r.Stride = -r.Stride
				}
				var ranks []int
				for x := r.First; (x-r.Last)*r.Stride <= 0; x += r.Stride {
					ranks = append(ranks, x)
				}
				if rng.IntN(2) == 0 {
					what = fmt.Sprint("RangeIncl ", r)
					got, err = g.RangeIncl([]mpi.Range{r})
					for _, r := range ranks {
						want = append(want, a[r])
					}
				} else {
					what = fmt.Sprint("RangeExcl ", r)
					got, err = g.RangeExcl([]mpi.Range{r})
					for r, p := range a {
						if !slices.Contains(ranks, r) {
							want = append(want, p)
						}
					}
				}
			}
			ok(t, err)
			if have := contents(t, got, world); !slices.Equal(have, want) {
				t.Fatalf("step %d: %s of %v and %v is %v, want %v", step, what, a, b, have, want)
			}
			rank := slices.Index(want, c.Rank())
			if rank < 0 {
				rank = mpi.Undefined
			}
			if got.Rank() != rank || got.Size() != len(want) {
				t.Fatalf("step %d: rank %d of %d, want %d of %d", step, got.Rank(), got.Size(), rank, len(want))
			}
			// The operands have not changed, and compare as their lists do.
			sorted := func(l []int) []int { return slices.Sorted(slices.Values(l)) }
			how := mpi.Unequal
			switch {
			case slices.Equal(a, want):
				how = mpi.Ident
			case slices.Equal(sorted(a), sorted(want)):
				how = mpi.Similar
			}
			if is, err := g.Compare(got); err != nil || is != how || !slices.Equal(contents(t, g, world), a) || !slices.Equal(contents(t, h, world), b) {
				t.Fatalf("step %d: %v compares with %v as %v (%v), want %v", step, a, want, is, err, how)
			}
			groups, lists = append(groups, got), append(lists, want)
		}
	})
}

// 7.3: invalid ranks and ranges.
func TestCOM04_GroupErrors(t *testing.T) {
	mpitest.On(t, "inproc", 4, func(t testing.TB, c *mpi.Comm) {
		w := &told{}
		ok(t, c.Self().SetErrhandler(w.handler()))
		g, err := c.Group()
		ok(t, err)
		type ranges = []mpi.Range
		cases := []struct {
			err   error
			class mpi.Class
			text  string
		}{
			{second(g.Incl([]int{0, 4})), mpi.ErrRank, "mpi: Incl on self: rank 4 in a group of 4"},
			{second(g.Incl([]int{-1})), mpi.ErrRank, "mpi: Incl on self: rank -1 in a group of 4"},
			{second(g.Incl([]int{1, 2, 1})), mpi.ErrRank, "mpi: Incl on self: rank 1 occurs twice"},
			{second(g.Excl([]int{3, 3})), mpi.ErrRank, "mpi: Excl on self: rank 3 occurs twice"},
			{second(g.RangeIncl(ranges{{0, 3, 0}})), mpi.ErrArg, "mpi: RangeIncl on self: range 0 has stride 0"},
			{second(g.RangeIncl(ranges{{0, 1, 1}, {3, 2, 1}})), mpi.ErrArg, "mpi: RangeIncl on self: range 1: stride 1 does not lead from 3 to 2"},
			{second(g.RangeExcl(ranges{{2, 3, -1}})), mpi.ErrArg, "mpi: RangeExcl on self: range 0: stride -1 does not lead from 2 to 3"},
			{second(g.RangeIncl(ranges{{2, 4, 1}})), mpi.ErrRank, "mpi: RangeIncl on self: rank 4 in a group of 4"},
			{second(g.RangeIncl(ranges{{-2, 2, 2}})), mpi.ErrRank, "mpi: RangeIncl on self: rank -2 in a group of 4"},
			{second(g.RangeExcl(ranges{{0, 2, 2}, {1, 2, 1}})), mpi.ErrRank, "mpi: RangeExcl on self: rank 2 occurs twice"},
			{second(g.RangeIncl(ranges{{0, math.MaxInt, 1}})), mpi.ErrRank, "mpi: RangeIncl on self: rank 4 in a group of 4"},
			{second(g.TranslateRanks([]int{0, 4}, g)), mpi.ErrRank, "mpi: TranslateRanks on self: rank 4 in a group of 4"},
		}
		comms, errs := w.take()
		if len(errs) != len(cases) {
			t.Fatalf("the handler of self was told %v", errs)
		}
		for i, k := range cases {
			wantClass(t, k.err, k.class)
			if want := k.text + " (" + k.class.String() + ")"; k.err.Error() != want {
				t.Errorf("case %d:\n\t%v\nwant\n\t%s", i, k.err, want)
			}
			if error(errs[i]) != k.err || comms[i] != c.Self() {
				t.Errorf("case %d: the handler was told %v on %v", i, errs[i], comms[i].Name())
			}
		}
		for _, r := range []mpi.Range{{1, 1, math.MaxInt}, {1, math.MinInt + 2, math.MinInt}, {1, math.MaxInt, math.MaxInt}, {1, -1, -3}, {1, 5, 7}} {
			one, err := g.RangeIncl(ranges{r}) // Last need not be reached, nor be a rank
			ok(t, err)
			if have := contents(t, one, g); !slices.Equal(have, []int{1}) {
				t.Errorf("range %v is %v", r, have)
			}
		}
		half, err := g.Incl([]int{3, 1})
		ok(t, err)
		to, err := g.TranslateRanks([]int{0, 1, mpi.ProcNull, 3, 1}, half)
		ok(t, err)
		if !slices.Equal(to, []int{mpi.Undefined, 1, mpi.ProcNull, 0, 1}) {
			t.Errorf("translated %v", to)
		}
	})
}

// A group remains valid after the communicator that it came from is freed.
func TestCOM04_GroupOutlivesCommunicator(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		d, err := c.Split(0, -c.Rank())
		ok(t, err)
		g, err := d.Group()
		ok(t, err)
		ok(t, d.Free())
		world, err := c.Group()
		ok(t, err)
		if have := contents(t, g, world); !slices.Equal(have, []int{2, 1, 0}) || g.Rank() != 2-c.Rank() {
			t.Errorf("group is %v, own rank %d", have, g.Rank())
		}
		_, err = d.Group()
		wantClass(t, err, mpi.ErrComm)
	})
}
