// Command hashtable fills a table that is spread over the memory of all ranks, and looks
// everything up again. No rank serves another: to insert a key, a rank claims a bucket of any
// rank by compare_and_swap and puts the value there; to look it up, it gets the bucket.
//
//	go run ./cmd/halo run -n 4 ./examples/hashtable [-keys N] [-common N] [-seconds N]
//
// Every rank inserts -keys keys of its own, and -common keys that all ranks insert, of
// which each must be created once. Then it looks up the keys of another rank, and as many
// that nobody has inserted, and checks the values. With -seconds the ranks repeat this for so long,
// each time with a new table.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	keys := flag.Int("keys", 200_000, "insert `N` keys of each rank's own")
	common := flag.Int("common", 10_000, "insert `N` keys on all ranks")
	seconds := flag.Float64("seconds", 0, "go on for `N` seconds")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *keys, *common, *seconds, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, keys, common int, seconds float64, out io.Writer) error {
	if keys < 0 || common < 0 || !(seconds >= 0) {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("hashtable: -keys is %d and -common is %d, and -seconds is %v: want no negative ones", keys, common, seconds)
	}
	for end := mpi.Wtime() + seconds; ; {
		if err := fill(world, keys, common, out); err != nil {
			return err
		}
		more := []bool{mpi.Wtime() < end}
		if err := mpi.Bcast(world, more, 0); err != nil || !more[0] {
			return err
		}
		out = io.Discard // print only the first line
	}
}

// fill fills a table, and looks everything up again.
func fill(world *mpi.Comm, keys, common int, out io.Writer) error {
	me, size := world.Rank(), world.Size()
	t, err := newTable(world, keys*size+common)
	if err != nil {
		return err
	}
	all := append(own(me, keys), own(size, common)...) // what no rank has is common

	inserting, created, err := timed(world, func() (int, error) { return t.insert(all) })
	if err != nil {
		return err
	}
	if want := keys*size + common; created != want {
		return fmt.Errorf("hashtable: %d keys were created, want %d: each of %d ranks its %d, and %d once",
			created, want, size, keys, common)
	}
	theirs := append(own((me+1)%size, keys), own(size, common)...)
	looking, found, err := timed(world, func() (int, error) { return t.lookup(theirs) })
	if err != nil {
		return err
	}
	missing, strangers, err := timed(world, func() (int, error) { return t.lookup(own(size+1+me, len(theirs))) })
	if err != nil {
		return err
	}
	inserts := size * len(all)
	if found != inserts || strangers != 0 {
		return fmt.Errorf("hashtable: %d of %d keys were found, and %d that nobody has inserted", found, inserts, strangers)
	}
	if err := t.free(); err != nil || me != 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d ranks: %d inserts, %.2f million/s; %d lookups, %.2f million/s; %d of absent keys, %.2f million/s; %d keys in %d buckets, all checked\n",
		size, inserts, rate(inserts, inserting), inserts, rate(inserts, looking), inserts, rate(inserts, missing), created, t.buckets)
	return err
}

// rate is in millions per second.
func rate(n int, seconds float64) float64 { return float64(n) / max(seconds, mpi.Wtick()) / 1e6 }

// timed runs a function on all ranks, and returns the time of the slowest and the sum of
// the results. A rank that fails takes part in the reductions, so that the others do not
// wait for it; the sum is negative then.
func timed(world *mpi.Comm, work func() (int, error)) (seconds float64, sum int, err error) {
	if err := world.Barrier(); err != nil {
		return 0, 0, err
	}
	start := mpi.Wtime()
	n, failed := work()
	took := []float64{mpi.Wtime() - start}
	if failed != nil {
		n = -1 << 40
	}
	if err := mpi.Allreduce(world, took, took, mpi.Max); err != nil {
		return 0, 0, errors.Join(failed, err)
	}
	sum, err = mpi.AllreduceOne(world, n, mpi.Sum)
	return took[0], sum, errors.Join(failed, err)
}

// own are n keys of a rank, which differ from those of all others: different numbers are
// mixed to different keys, and none to 0.
func own(rank, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = mix(uint64(rank)<<40 + uint64(i) + 1)
	}
	return keys
}

// mix is a permutation of the 64-bit numbers that looks random, and leaves 0 alone.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// valueOf is the value of a key.
func valueOf(key uint64) uint64 { return mix(key + 1) }
