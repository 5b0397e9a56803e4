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
			if err := run(world, 0, *stress/4, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLocksAreCountedOnAnyNumberOfRanks(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, times := range []int{0, 1, 60} {
				var out bytes.Buffer
				err := run(world, times, 0, &out)
				if err != nil || strings.Contains(out.String(), ", all checked\n") != (world.Rank() == 0) {
					t.Errorf("%d times: rank %d: %v, %q", times, world.Rank(), err, &out)
				}
			}
		})
	}
}

// The lock goes to ranks in the order in which they have asked: each asks when the one
// before it is in the queue, while rank 0 holds the lock of the last rank.
func TestFirstComeFirstServed(t *testing.T) {
	mpitest.Run(t, 4, func(t testing.TB, world *mpi.Comm) {
		l, err := newLock(world)
		if err != nil {
			t.Fatal(err)
		}
		me, home := world.Rank(), world.Size()-1
		for tail := uint64(0); tail != uint64(me); {
			tail, err = l.load(home, last)
			if err != nil {
				t.Fatal(err)
			}
		}
		before, err := l.acquire(home)
		if err != nil || before != uint64(me) {
			t.Errorf("rank %d got the lock from %d, want rank %d: %v", me, int(before)-1, me-1, err)
		}
		if me == 0 { // until all are in the queue
			for tail := uint64(0); tail != uint64(home+1); {
				tail, err = l.load(home, last)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := l.count(home, before); err != nil {
			t.Error(err)
		}
		if err := l.release(home); err != nil {
			t.Error(err)
		}
		if err := world.Barrier(); err != nil {
			t.Fatal(err)
		}
		if r, err := l.guarded(home); err != nil || r != newRecord(4, 4) {
			t.Errorf("the record is %d in the end: %v", r, err)
		}
		if tail, err := l.load(home, last); err != nil || tail != 0 {
			t.Errorf("rank %d is in the queue: %v", int(tail)-1, err)
		}
		if err := l.free(); err != nil {
			t.Error(err)
		}
	})
}

// What a lock that does not shut out would lead to is found: a record that is half
// written, and one that another one has written.
func TestBrokenLockIsFound(t *testing.T) {
	mpitest.Run(t, 1, func(t testing.TB, world *mpi.Comm) {
		l, err := newLock(world)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			r      record
			before uint64
			want   string
		}{
			{record{counter: 3, holder: 2, sum: newRecord(2, 2)[sum]}, 0, "half written"},
			{newRecord(3, 2), 5, "from rank 4, but the last who counted is rank 1"},
			{newRecord(0, 0), 5, "the last who counted is rank -1"},
		} {
			if err := l.win.Put(c.r[:], 0, protected); err != nil {
				t.Fatal(err)
			}
			if err := l.count(0, c.before); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("record %d, held before by %d: %v, want %q", c.r, c.before, err, c.want)
			}
		}
		if err := l.free(); err != nil {
			t.Error(err)
		}
	})
}

func TestNegativeCountsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, err := range []error{run(world, -1, 0, &bytes.Buffer{}), run(world, 1, -1, &bytes.Buffer{})} {
			if (err != nil) != (world.Rank() == 0) {
				t.Errorf("rank %d: %v", world.Rank(), err)
			}
		}
	})
}
