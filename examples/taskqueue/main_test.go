package main

import (
	"bytes"
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

var stress = flag.Float64("stress", 0.2, "seconds of TestStress on each fabric")

// TestStress is what make stress runs for long.
func TestStress(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			if err := run(world, options{2, 1e-3, *stress / 4}, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// QV-07, QV-08 and QV-26: puts, gets and accumulates of ordered views happen in their order,
// for several goroutines of each rank at once, each with a view.
func TestAreaIsThatOfOneRank(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, o := range []options{{1, 1e-2, 0}, {4, 1e-1, 0}, {2, 1e9, 0}} {
				var out bytes.Buffer
				err := run(world, o, &out)
				if err != nil || strings.Contains(out.String(), "; all as on one rank\n") != (world.Rank() == 0) {
					t.Errorf("%+v: rank %d: %v, %q", o, world.Rank(), err, &out)
				}
			}
		})
	}
}

func TestSimpsonsRuleIsGood(t *testing.T) {
	r := serial(whole, 1e-5)
	if off := math.Abs(float64(r.area)*unit - exact()); off > 1e-6 || r.parts < 100 {
		t.Errorf("the area is off by %v in %d parts", off, r.parts)
	}
}

// A queue that is full refuses, and gives back what it has in the order in which it came.
func TestFullQueueRefuses(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		q, err := newQueue(world)
		if err != nil {
			t.Fatal(err)
		}
		u, err := q.user(true)
		if err != nil {
			t.Fatal(err)
		}
		for lap := range int64(3) {
			for i := range int64(slots) {
				if ok, err := u.push(task{lap, i}); !ok || err != nil {
					t.Fatalf("task %d: %v, %v", i, ok, err)
				}
			}
			if ok, err := u.push(task{}); ok || err != nil {
				t.Fatalf("a full queue takes one more: %v", err)
			}
			for i := range int64(slots) {
				if got, ok, err := u.pop(); !ok || err != nil || got != (task{lap, i}) {
					t.Fatalf("task %d is %d: %v, %v", i, got, ok, err)
				}
			}
			if got, ok, err := u.pop(); ok || err != nil {
				t.Fatalf("an empty queue gives %d: %v", got, err)
			}
		}
		if err := u.view.Free(); err != nil {
			t.Error(err)
		}
		if err := q.free(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadOptionsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, o := range []options{{0, 1, 0}, {1, 0, 0}, {1, math.NaN(), 0}, {1, 1, -1}} {
			if err := run(world, o, &bytes.Buffer{}); (err != nil) != (world.Rank() == 0) {
				t.Errorf("%+v: rank %d: %v", o, world.Rank(), err)
			}
		}
	})
}
