package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func grid(dims ...int) *Grid { return &Grid{Dims: dims, Periods: make([]bool, len(dims))} }

func torus(dims ...int) *Grid {
	g := grid(dims...)
	for i := range g.Periods {
		g.Periods[i] = true
	}
	return g
}

// randomGrid is a grid of at most 5 dimensions and some 100 positions.
func randomGrid(r *rand.Rand) *Grid {
	g := &Grid{}
	for size := 1; len(g.Dims) < 5 && r.IntN(4) > 0; {
		d := 1 + r.IntN(max(1, min(7, 100/size)))
		size *= d
		g.Dims, g.Periods = append(g.Dims, d), append(g.Periods, r.IntN(2) == 0)
	}
	return g
}

// 8.5.5: positions and coordinates are the inverse of each other, in row-major order, and
// coordinates beyond the end count modulo the length where the dimension is periodic.
func TestTOP01_PositionsAndCoordinates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		g := randomGrid(r)
		coords := make([]int, len(g.Dims))
		for at := range g.Size() {
			g.Coords(at, coords)
			if got := g.Position(coords); got != at {
				t.Fatalf("%v: position %d has coordinates %v, which are position %d", g, at, coords, got)
			}
			want := at
			for i, d := range g.Dims {
				by := r.IntN(7) - 3
				coords[i] += by * d
				if by != 0 && !g.Periods[i] {
					want = None
				}
			}
			if got := g.Position(coords); got != want {
				t.Fatalf("%v: coordinates %v are position %d, want %d", g, coords, got, want)
			}
			// The next position differs in the last dimension first.
			if k := len(g.Dims) - 1; k >= 0 && at%g.Dims[k] != g.Dims[k]-1 {
				g.Coords(at, coords)
				coords[k]++
				if g.Position(coords) != at+1 {
					t.Fatalf("%v: position %d is not followed by %v", g, at, coords)
				}
			}
		}
	}
}

// 8.5.6: a shift has the position that many steps before as source and the one behind as
// destination, none beyond the end of a dimension that is not periodic, whatever the displacement.
func TestTOP02_Shift(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const huge = 1<<63 - 1
	for range 300 {
		g := randomGrid(r)
		coords := make([]int, len(g.Dims))
		for at := range g.Size() {
			for dim := range g.Dims {
				disp := r.IntN(31) - 15
				from, to := g.Shift(at, dim, disp)
				for _, c := range []struct{ got, disp int }{{from, -disp}, {to, disp}} {
					g.Coords(at, coords)
					coords[dim] += c.disp
					if want := g.Position(coords); c.got != want {
						t.Fatalf("%v: %d shifted by %d in dimension %d is %d, want %d", g, at, c.disp, dim, c.got, want)
					}
				}
				for _, disp := range []int{huge, -huge, -huge - 1} {
					from, to := g.Shift(at, dim, disp)
					if !g.Periods[dim] && (from != None || to != None) {
						t.Fatalf("%v: %d shifted by %d is %d and %d", g, at, disp, from, to)
					}
					if n := g.Size(); g.Periods[dim] && (from < 0 || from >= n || to < 0 || to >= n) {
						t.Fatalf("%v: %d shifted by %d is %d and %d", g, at, disp, from, to)
					}
				}
			}
		}
	}
	if from, to := torus(3).Shift(1, 0, huge); from != (1+3-huge%3)%3 || to != (1+huge%3)%3 {
		t.Errorf("a shift by the largest displacement is %d and %d", from, to)
	}
}

// 8.6: neighbours are those of each dimension, the one before and the one behind; in a periodic
// dimension of length 2 it is the same one twice, of length 1 the position itself.
func TestNeighbors(t *testing.T) {
	for _, c := range []struct {
		g    *Grid
		at   int
		want []int
	}{
		{grid(), 0, []int{}},
		{grid(3), 0, []int{None, 1}},
		{torus(3), 0, []int{2, 1}},
		{torus(2), 1, []int{0, 0}},
		{torus(1), 0, []int{0, 0}},
		{grid(1), 0, []int{None, None}},
		{torus(2, 3), 4, []int{1, 1, 3, 5}},
		{&Grid{Dims: []int{3, 3}, Periods: []bool{true, false}}, 2, []int{8, 5, 1, None}},
	} {
		got := make([]int, 2*len(c.g.Dims))
		c.g.Neighbors(c.at, got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: the neighbours of %d are %v, want %v", c.g, c.at, got, c.want)
		}
	}
}

// 8.5.7: the parts of a grid are numbered by the dropped coordinates, and places in them by the
// others.
func TestSub(t *testing.T) {
	g := &Grid{Dims: []int{2, 3, 4}, Periods: []bool{true, false, true}}
	coords := make([]int, 3)
	for mask := range 8 {
		remain := []bool{mask&1 != 0, mask&2 != 0, mask&4 != 0}
		members := map[string]int{}
		for at := range g.Size() {
			g.Coords(at, coords)
			sub, part, place := g.Sub(remain, at)
			kept, dropped := make([]int, 0, 3), grid()
			var rest []int
			for i := range coords {
				if remain[i] {
					kept = append(kept, coords[i])
				} else {
					dropped.Dims, dropped.Periods = append(dropped.Dims, g.Dims[i]), append(dropped.Periods, false)
					rest = append(rest, coords[i])
				}
			}
			if sub.Position(kept) != place || dropped.Position(rest) != part {
				t.Fatalf("remain %v: position %d is place %d of part %d", remain, at, place, part)
			}
			members[fmt.Sprint(part)]++
		}
		for part, n := range members {
			if sub, _, _ := g.Sub(remain, 0); n != sub.Size() {
				t.Errorf("remain %v: part %s has %d members, want %d", remain, part, n, sub.Size())
			}
		}
	}
}
