// Command pi integrates 4/(1+x*x) from 0 to 1 by the midpoint rule.
//
//	go run ./cmd/halo run -n 4 ./examples/pi -intervals 100000000
//
// The result has the same bits on any number of ranks, although a sum of
// floating-point numbers depends on its order: the interval is cut into a fixed
// number of strips, each summed by one rank alone, and the strips are added up
// in their order at the end.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	intervals := flag.Int("intervals", 10_000_000, "how many midpoints")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error {
		pi, err := integrate(world, *intervals)
		if err != nil || world.Rank() != 0 {
			return err
		}
		_, err = fmt.Fprintf(os.Stdout, "pi is %.16f, off by %.1e\n", pi, math.Abs(pi-math.Pi))
		return err
	})
}

const strips = 1024 // many more than ranks, so that all get about the same share

// integrate returns pi on rank 0.
func integrate(world *mpi.Comm, intervals int) (float64, error) {
	if intervals < 1 {
		return 0, fmt.Errorf("pi: -intervals is %d, must be at least 1", intervals)
	}
	sums := make([]float64, strips)
	for s := world.Rank(); s < strips; s += world.Size() {
		sums[s] = strip(s, intervals)
	}
	// Every strip has a value on one rank and is zero on the others, so
	// that the sum over the ranks is exact in any order.
	totals := make([]float64, strips)
	if err := mpi.Reduce(world, sums, totals, mpi.Sum, 0); err != nil {
		return 0, err
	}
	pi := 0.0
	for _, t := range totals {
		pi += t
	}
	return pi, nil
}

// strip is the area below the curve between s/strips and (s+1)/strips.
func strip(s, intervals int) float64 {
	width := 1 / float64(intervals)
	sum := 0.0
	for i := s * intervals / strips; i < (s+1)*intervals/strips; i++ {
		x := (float64(i) + 0.5) * width
		sum += 4 / (1 + x*x)
	}
	return sum * width
}
