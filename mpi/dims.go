package mpi

import (
	"math"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
)

// DimsCreate chooses the dimensions of a grid of processes. It sets the elements of dims that
// are 0, in descending order, such that the product of all dimensions is nodes and the ones it
// sets are as close to each other as possible. Other elements do not change. ErrDims if a
// dimension is negative, or nodes is not a multiple of the given dimensions; ErrArg if nodes is
// less than 1.
//
// C: MPI_Dims_create, section 8.5.2.
func DimsCreate(nodes int, dims []int) error {
	const by = call.DimsCreate
	if nodes < 1 {
		return fail(ErrArg, by, nil, "%d nodes, want at least 1", nodes)
	}
	rest, open := nodes, 0
	for i, d := range dims {
		switch {
		case d < 0:
			return fail(ErrDims, by, nil, "dimension %d has length %d, which is negative", i, d)
		case d == 0:
			open++
		case rest%d != 0:
			return fail(ErrDims, by, nil, "%d nodes are not a multiple of the product of the dimensions that are set in %d", nodes, dims)
		default:
			rest /= d
		}
	}
	if open == 0 {
		return nil
	}
	s := factoring{divisors: divisors(rest), now: make([]int, open), spread: math.MaxInt}
	for _, d := range s.divisors[1:] {
		if !slices.ContainsFunc(s.primes, func(p int) bool { return d%p == 0 }) {
			s.primes = append(s.primes, d)
		}
	}
	s.place(0, rest, rest)
	for i, d := range dims {
		if d == 0 {
			dims[i], s.best = s.best[0], s.best[1:]
		}
	}
	return nil
}

// factoring searches for the best way to write a number as a product of len(now) factors in
// descending order. The best way has the smallest difference between the first and the last
// factor. Among ways with the same difference it has the largest last factor, which also makes
// the quotient of first and last smallest; among these the largest last but one, and so on.
//
// The search tries all ways in ascending order of the first factor, except those that two bounds
// exclude. A factor is the largest of the remaining ones, and so at least as large as every
// prime factor of the remaining number. The last factor is at most the root of the remaining
// number, so that a first factor too far above this root cannot be better than the best way
// found so far. Numbers below 2^31 take some milliseconds at most.
type factoring struct {
	divisors []int // ascending
	primes   []int // ascending
	now      []int
	best     []int
	spread   int // of best
}

// place chooses the factors of rest, none above limit, for the positions from i on.
func (s *factoring) place(i, rest, limit int) {
	left := len(s.now) - i
	if left == 1 {
		s.now[i] = rest
		spread := s.now[0] - rest
		if rest <= limit && (spread < s.spread || spread == s.spread && s.nearer()) {
			s.best, s.spread = slices.Clone(s.now), spread
		}
		return
	}
	from, _ := slices.BinarySearch(s.divisors, max(rootUp(rest, left), s.prime(rest)))
	for _, d := range s.divisors[from:] {
		if d > limit {
			return
		}
		if rest%d != 0 {
			continue
		}
		s.now[i] = d
		if s.now[0]-root(rest/d, left-1) > s.spread {
			return // larger factors leave a smaller rest and have a larger spread
		}
		s.place(i+1, rest/d, d)
	}
}

// nearer reports whether now is better than best, which has the same spread.
func (s *factoring) nearer() bool {
	for i, d := range slices.Backward(s.now) {
		if d != s.best[i] {
			return d > s.best[i]
		}
	}
	return false
}

// prime is the largest prime factor of n, or 1 for 1.
func (s *factoring) prime(n int) int {
	for _, p := range slices.Backward(s.primes) {
		if n%p == 0 {
			return p
		}
	}
	return 1
}

// root is the largest number whose k-th power is at most n.
func root(n, k int) int {
	r := int(math.Pow(float64(n), 1/float64(k)))
	for power(r+1, k, n) <= n {
		r++
	}
	for r > 1 && power(r, k, n) > n {
		r--
	}
	return r
}

// rootUp is the smallest number whose k-th power is at least n.
func rootUp(n, k int) int {
	r := root(n, k)
	if power(r, k, n) < n {
		r++
	}
	return r
}

// power is the k-th power of r, or some number above n if the power is above n.
func power(r, k, n int) int {
	p := 1
	for range k {
		if p > n/r {
			return n + 1
		}
		p *= r
	}
	return p
}

// divisors returns the divisors of n in ascending order.
func divisors(n int) []int {
	var low, high []int
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			low = append(low, d)
			if d != n/d {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}
