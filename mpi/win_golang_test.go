package mpi_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Elements of windows may have any type that TypeOf accepts (RC-01, RC-02): their padding and
// blank fields do not change. Types with numbers of only one kind can be accumulated (RC-03).
func TestRC01_RC03_StructsInWindows(t *testing.T) {
	type particle struct {
		Kind byte
		_    [3]byte
		Pos  [2]float32
		Mass float64
	}
	type vector struct{ X, Y, Z float64 }
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		next, before := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		w, err := mpi.WinAllocate[particle](c, 5)
		ok(t, err)
		raw := w.Untyped().Local()
		raw[24+1] = 77 // part of a blank field
		ok(t, w.Fence(0))
		ok(t, w.Put([]particle{{Kind: byte(c.Rank()), Pos: [2]float32{1, 2}, Mass: 3}, {Mass: 4}}, next, 1))
		ok(t, w.Fence(0))
		want := particle{Kind: byte(before), Pos: [2]float32{1, 2}, Mass: 3}
		if got := w.Local()[1]; got != want || w.Local()[2].Mass != 4 || w.DispUnit() != 24 || raw[24+1] != 77 {
			t.Errorf("memory %+v, blank byte %d", w.Local(), raw[24+1])
		}
		got := make([]particle, 2)
		ok(t, w.Get(got, c.Rank(), 1))
		ok(t, w.Fence(0))
		if got[0] != want || got[1].Mass != 4 {
			t.Errorf("got %+v", got)
		}
		wantText(t, w.Accumulate(got, next, 0, mpi.Sum), mpi.ErrType, "not made of elements of one predefined type")
		ok(t, w.Fence(0))
		ok(t, w.Free())

		v, err := mpi.WinAllocate[vector](c, 2)
		ok(t, err)
		old := make([]vector, 1)
		ok(t, v.LockAll(0))
		ok(t, v.Accumulate([]vector{{1, 2, 3}}, 0, 1, mpi.Sum))
		q := v.Raccumulate([]vector{{1, 2, 3}}, 0, 1, mpi.Sum)
		ok(t, second(q.Wait()))
		ok(t, v.UnlockAll())
		ok(t, c.Barrier())
		n := float64(2 * c.Size())
		if sum := v.Local()[1]; c.Rank() == 0 && sum != (vector{n, 2 * n, 3 * n}) {
			t.Errorf("sum %v", sum)
		}
		ok(t, v.LockAll(0))
		ok(t, v.GetAccumulate(nil, old, 0, 1, mpi.NoOp))
		ok(t, v.UnlockAll())
		if old[0] != (vector{n, 2 * n, 3 * n}) {
			t.Errorf("fetched %v", old)
		}
		ok(t, v.Free())
	})
}

// Values with an index, with and without padding in memory, contiguous or not: Minloc at the
// target, and the previous values.
func TestRC04_PairsAreFetched(t *testing.T) {
	type pair = mpi.ValueIndex[float64, int32]
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const n = 4
		w, err := mpi.WinAllocate[pair](c, 2*n)
		ok(t, err)
		for i := range w.Local() {
			w.Local()[i] = pair{Value: 5, Index: int32(i)}
		}
		ok(t, w.Fence(0))
		one := typ(t)(mpi.TypeOf[pair]())
		spread := typ(t)(mpi.TypeVector(n, 1, 2, one))
		mine, old := make([]pair, 2*n), make([]pair, 2*n)
		for i := range mine {
			mine[i], old[i] = pair{Value: float64(i), Index: 100}, pair{Index: -1}
		}
		ok(t, w.LockAll(0))
		if c.Rank() == 1 {
			ok(t, w.Untyped().GetAccumulate(mpi.BufOf(mine, 1, spread), mpi.BufOf(old, 1, spread), 0, 0, 1, spread, mpi.Minloc))
			ok(t, w.Flush(0))
			was := pair{}
			ok(t, w.FetchAndOp(&pair{Value: -1, Index: 9}, &was, 0, 7, mpi.Minloc))
			ok(t, w.Accumulate([]pair{{Value: -2, Index: 8}}, 0, 5, mpi.Replace))
			ok(t, w.Flush(0))
			if was != (pair{Value: 5, Index: 7}) {
				t.Errorf("fetched %v", was)
			}
			for i, p := range old {
				want := pair{Index: -1}
				if i%2 == 0 {
					want = pair{Value: 5, Index: int32(i)}
				}
				if p != want {
					t.Errorf("fetched %v", old)
					break
				}
			}
		}
		ok(t, w.UnlockAll())
		ok(t, c.Barrier())
		want := []pair{{0, 100}, {5, 1}, {2, 100}, {5, 3}, {4, 100}, {-2, 8}, {5, 6}, {-1, 9}}
		if c.Rank() == 0 && !slices.Equal(w.Local(), want) {
			t.Errorf("memory %v, want %v", w.Local(), want)
		}
		ok(t, w.Free())
	})
}
