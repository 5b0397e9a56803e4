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
			if err := run(world, 300, 100, *stress/4, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEverythingIsFoundAndChecked(t *testing.T) {
	for n := 1; n <= 5; n++ {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			for _, c := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {700, 0}, {0, 300}, {600, 400}} {
				var out bytes.Buffer
				err := run(world, c[0], c[1], 0, &out)
				if err != nil || strings.Contains(out.String(), ", all checked\n") != (world.Rank() == 0) {
					t.Errorf("%v keys: rank %d: %v, %q", c, world.Rank(), err, &out)
				}
			}
		})
	}
}

// A table that is almost full, in which keys that collide end up far from where they
// belong: the oracle is a map.
func TestTableIsAMap(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		const buckets = 60
		table, err := newTable(world, buckets/2)
		if err != nil {
			t.Fatal(err)
		}
		// All keys belong into three buckets, the last one among them.
		keys := make([]uint64, buckets-10)
		for i := range keys {
			keys[i] = uint64((i+1)*table.buckets) - uint64(i%3)
		}
		created, err := table.insert(keys)
		if err != nil {
			t.Fatal(err)
		}
		created, err = mpi.AllreduceOne(world, created, mpi.Sum)
		if err != nil || created != len(keys) {
			t.Fatalf("%d keys were created, want %d: %v", created, len(keys), err)
		}
		if again, err := table.insert(keys); err != nil || again != 0 {
			t.Errorf("%d keys were created again: %v", again, err)
		}
		if err := world.Barrier(); err != nil {
			t.Fatal(err)
		}
		if found, err := table.lookup(keys); err != nil || found != len(keys) {
			t.Errorf("%d keys were found of %d: %v", found, len(keys), err)
		}
		if found, err := table.lookup([]uint64{1, 2, uint64(1000 * table.buckets)}); err != nil || found != 0 {
			t.Errorf("%d strange keys were found: %v", found, err)
		}
		mine := 0
		for bucket := range table.perRank {
			if key := table.win.Local()[2*bucket]; key != 0 {
				mine++
			}
		}
		if all, err := mpi.AllreduceOne(world, mine, mpi.Sum); err != nil || all != len(keys) {
			t.Errorf("%d buckets are in use, want %d: %v", all, len(keys), err)
		}
		if err := table.free(); err != nil {
			t.Error(err)
		}
	})
}

// A wrong value of a key is an error of the rank that finds it.
func TestWrongValueIsFound(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		table, err := newTable(world, 10)
		if err != nil {
			t.Fatal(err)
		}
		key := []uint64{5}
		if world.Rank() == 0 {
			if _, err := table.insert(key); err != nil {
				t.Fatal(err)
			}
			rank, disp := table.at(5 % table.buckets)
			if err := table.win.Put([]uint64{1}, rank, disp+1); err != nil {
				t.Fatal(err)
			}
			if err := table.win.FlushAll(); err != nil {
				t.Fatal(err)
			}
		}
		if err := world.Barrier(); err != nil {
			t.Fatal(err)
		}
		if _, err := table.lookup(key); err == nil || !strings.Contains(err.Error(), "the value of key 0x5") {
			t.Errorf("rank %d: %v", world.Rank(), err)
		}
		if err := table.free(); err != nil {
			t.Error(err)
		}
	})
}

func TestKeysDiffer(t *testing.T) {
	seen := map[uint64]bool{0: true}
	for rank := range 6 {
		for _, key := range own(rank, 5000) {
			if seen[key] {
				t.Fatalf("key %#x of rank %d is 0, or another one's", key, rank)
			}
			seen[key] = true
		}
	}
}

func TestNegativeCountsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		if err := run(world, -1, 2, 0, &bytes.Buffer{}); (err != nil) != (world.Rank() == 0) {
			t.Errorf("rank %d: %v", world.Rank(), err)
		}
	})
}
