package mpi_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// The dimensions of grids: the examples of the standard, and ones with more than one way.
func TestDimsCreate(t *testing.T) {
	for _, c := range []struct {
		nodes      int
		dims, want []int
	}{
		{6, []int{0, 0}, []int{3, 2}},
		{7, []int{0, 0}, []int{7, 1}},
		{6, []int{0, 3, 0}, []int{2, 3, 1}},
		{1, []int{0, 0, 0}, []int{1, 1, 1}},
		{16, []int{0, 0, 0}, []int{4, 2, 2}},
		{24, []int{0, 0, 0}, []int{4, 3, 2}},
		{36, []int{0, 0, 0}, []int{4, 3, 3}},
		{5040, []int{0, 0, 0}, []int{21, 16, 15}}, // the same difference as 20, 18 and 14, but a smaller quotient
		{98784, []int{0, 0, 0, 0, 0}, []int{14, 14, 9, 8, 7}},
		{12, []int{3, 4}, []int{3, 4}},
		{12, []int{0, 12}, []int{1, 12}},
		{1 << 30, []int{0, 0, 0, 0, 0, 0}, []int{32, 32, 32, 32, 32, 32}},
		{2147483647, []int{0, 0, 0}, []int{2147483647, 1, 1}},
		{5, nil, nil},
	} {
		got := slices.Clone(c.dims)
		if err := mpi.DimsCreate(c.nodes, got); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d nodes in %v: %v, %v, want %v", c.nodes, c.dims, got, err, c.want)
		}
	}
}

// Of all ways to write a number as a product the chosen one has the smallest difference between
// its factors: compared with trying all ways, for every number up to 400 and up to 5 dimensions.
func TestDimsCreateIsTheNearest(t *testing.T) {
	var least func(rest, left, first, limit int) int
	least = func(rest, left, first, limit int) int {
		if left == 1 {
			if rest > limit {
				return 1 << 40
			}
			return max(first, rest) - rest
		}
		best := 1 << 40
		for d := 1; d <= min(rest, limit); d++ {
			if rest%d == 0 {
				best = min(best, least(rest/d, left-1, max(first, d), d))
			}
		}
		return best
	}
	for nodes := 1; nodes <= 400; nodes++ {
		for n := 1; n <= 5; n++ {
			dims := make([]int, n)
			if err := mpi.DimsCreate(nodes, dims); err != nil {
				t.Fatal(err)
			}
			product := 1
			for i, d := range dims {
				product *= d
				if i > 0 && d > dims[i-1] {
					t.Errorf("%d nodes: %v do not descend", nodes, dims)
				}
			}
			if want := least(nodes, n, 0, nodes); product != nodes || dims[0]-dims[n-1] != want {
				t.Errorf("%d nodes: %v, whose product is %d; factors need differ by %d only", nodes, dims, product, want)
			}
		}
	}
}

// The numbers below 2^31 with the most divisors are fast, too.
func TestDimsCreateOfManyDivisors(t *testing.T) {
	for _, nodes := range []int{2095133040, 1396755360, 698377680, 223092870, 1 << 30, 3486784401 / 3, 1837836000} {
		for n := 1; n <= 32; n++ {
			dims := make([]int, n)
			if err := mpi.DimsCreate(nodes, dims); err != nil {
				t.Fatal(err)
			}
			product := 1
			for _, d := range dims {
				product *= d
			}
			if product != nodes {
				t.Errorf("%d nodes: %v", nodes, dims)
			}
		}
	}
}

// Arguments that do not describe a grid are refused, and dims is not changed.
func TestDimsCreateRefuses(t *testing.T) {
	for _, c := range []struct {
		nodes int
		dims  []int
		want  mpi.Class
	}{
		{0, []int{0}, mpi.ErrArg},
		{-4, []int{0, 0}, mpi.ErrArg},
		{7, []int{0, 3, 0}, mpi.ErrDims},
		{6, []int{0, -2}, mpi.ErrDims},
		{6, []int{4, 4}, mpi.ErrDims},
	} {
		got := slices.Clone(c.dims)
		if err := mpi.DimsCreate(c.nodes, got); !errors.Is(err, c.want) || !slices.Equal(got, c.dims) {
			t.Errorf("%d nodes in %v: %v, %v, want %v", c.nodes, c.dims, got, err, c.want)
		}
	}
}
