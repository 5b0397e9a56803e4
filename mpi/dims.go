package mpi

import (
	"math"
	"slices"
)

// DimsCreate chooses the dimensions of a grid of processes: those of dims that are 0 are
// set, in descending order, such that the product of all is nodes and the ones set are as
// near to each other as they can be. Others stay as they are. A negative dimension, and
// nodes that are no multiple of the given ones, are ErrDims; fewer than one node is ErrArg.
//
// C: MPI_Dims_create, section 8.5.2.
func DimsCreate(nodes int, dims []int) error {
	const call = "DimsCreate"
	if nodes < 1 {
		return fail(ErrArg, call, nil, "%d nodes, want at least 1", nodes)
	}
	rest, open := nodes, 0
	for i, d := range dims {
		switch {
		case d < 0:
			return fail(ErrDims, call, nil, "dimension %d has length %d, which is negative", i, d)
		case d == 0:
			open++
		case rest%d != 0:
			return fail(ErrDims, call, nil, "%d nodes are not a multiple of the product of the dimensions that are set in %d", nodes, dims)
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

// factoring looks for the way to write a number as a product of as many factors as now is
// long, in descending order, with the least distance from the first to the last; of several
// such ways it takes the one whose last factor is largest, so that the quotient of first and
// last is least, too, of these the one whose last but one is, and so on. It tries all of them, small
// first factors first, but for those which bounds rule out: a factor is the largest of those
// to come, and so at least as large as every prime of what is left; and the last one is at
// most the root of what is left, so that a first one that far above it cannot be nearer than
// what was found. Numbers below 2^31 take some milliseconds at most.
type factoring struct {
	divisors []int // ascending
	primes   []int // ascending
	now      []int
	best     []int
	spread   int // of best
}

// place puts factors of rest, none above limit, from place i on.
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
			return // and so it is with larger ones: they leave less
		}
		s.place(i+1, rest/d, d)
	}
}

// nearer reports whether of now and best, which have the same distance, now is to be taken.
func (s *factoring) nearer() bool {
	for i, d := range slices.Backward(s.now) {
		if d != s.best[i] {
			return d > s.best[i]
		}
	}
	return false
}

// prime is the largest prime that divides n, 1 if none does.
func (s *factoring) prime(n int) int {
	for _, p := range slices.Backward(s.primes) {
		if n%p == 0 {
			return p
		}
	}
	return 1
}

// root is the largest number whose k-th power is not above n.
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

// rootUp is the smallest number whose k-th power is not below n.
func rootUp(n, k int) int {
	r := root(n, k)
	if power(r, k, n) < n {
		r++
	}
	return r
}

// power is the k-th power of r, or something above n if it is above n.
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

// divisors are those of n, ascending.
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
