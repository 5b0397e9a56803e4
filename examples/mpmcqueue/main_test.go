package main

import (
	"bytes"
	"flag"
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
			if err := run(world, 0, 2, *stress/4, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestItemsComeOnceAndInOrder(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, c := range [][2]int{{0, 1}, {1, 1}, {60, 1}, {60, 7}, {20, 40}} {
				var out bytes.Buffer
				err := run(world, c[0], c[1], 0, &out)
				if err != nil || strings.Contains(out.String(), "; all came once, in order\n") != (world.Rank() == 0) {
					t.Errorf("%d items, %d slots: rank %d: %v, %q", c[0], c[1], world.Rank(), err, &out)
				}
			}
		})
	}
}

// Rank 0 fills the queue, rank 1 empties it, again and again: what comes is what went, and
// slots are used in turns.
func TestFirstInFirstOut(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		q, err := newQueue(world, 3)
		if err != nil {
			t.Fatal(err)
		}
		u, full := user{queue: q}, int(q.slots)
		for turn := range 5 {
			for i := range full {
				value := uint64(turn*full + i)
				if world.Rank() == 0 {
					if err := u.push(itemOf(value)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := world.Barrier(); err != nil {
				t.Fatal(err)
			}
			for i := range full {
				if world.Rank() == 1 {
					if got, err := u.pop(); err != nil || got != itemOf(uint64(turn*full+i)) {
						t.Errorf("item %d is %#x: %v", turn*full+i, got, err)
					}
				}
			}
			if err := world.Barrier(); err != nil {
				t.Fatal(err)
			}
		}
		if u.waited > 0 {
			t.Errorf("rank %d waited %d times for its turn, which it was", world.Rank(), u.waited)
		}
		if err := q.free(); err != nil {
			t.Error(err)
		}
	})
}

// What a queue that is broken would deliver is found.
func TestWrongItemsAreFound(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		q, err := newQueue(world, 8)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			items []item
			want  string
		}{
			{[]item{itemOf(5), itemOf(4)}, "item 4 of rank 0 came behind its item 5"},
			{[]item{itemOf(5), itemOf(5)}, "item 5 of rank 0 came behind its item 5"},
			{[]item{itemOf(1<<valueBits + 1)}, "item 1 of rank 1 came"},
			{[]item{{1, 2}}, "torn"},
		} {
			u, consumer := user{queue: q}, newConsumer(q)
			for _, i := range c.items {
				if err := u.push(i); err != nil {
					t.Fatal(err)
				}
			}
			if err := consumer.consume(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%#x: %v, want %q", c.items, err, c.want)
			}
		}
		if err := q.free(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadOptionsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, err := range []error{
			run(world, -1, 1, 0, &bytes.Buffer{}), run(world, 1, 0, 0, &bytes.Buffer{}), run(world, 1, 1, -1, &bytes.Buffer{}),
		} {
			if (err != nil) != (world.Rank() == 0) {
				t.Errorf("rank %d: %v", world.Rank(), err)
			}
		}
	})
}
