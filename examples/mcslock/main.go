// Command mcslock counts under a lock that is a queue of ranks: an MCS lock, built of
// atomic operations on a window.
//
//	go run ./cmd/halo run -n 4 ./examples/mcslock [-times N] [-seconds N]
//
// Every rank is home to a lock, and to a counter that it protects. Each rank takes locks at
// random, N times, and adds 1 to the counter by get and put, which would lose counts if two
// ranks did it at once. Each time the rank checks this, and that ranks get the lock in
// the order of their requests. With -seconds ranks repeat this for so long.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	times := flag.Int("times", 500, "take a lock `N` times on each rank")
	seconds := flag.Float64("seconds", 0, "go on for `N` seconds instead")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *times, *seconds, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, times int, seconds float64, out io.Writer) error {
	if times < 0 || !(seconds >= 0) {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("mcslock: -times is %d and -seconds is %v, neither may be negative", times, seconds)
	}
	l, err := newLock(world)
	if err != nil {
		return err
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	start := mpi.Wtime()
	random := rand.New(rand.NewPCG(uint64(world.Rank()), 0))
	counted, waited := 0, 0
	for counted < times || seconds > 0 {
		if seconds > 0 && mpi.Wtime()-start >= seconds {
			break
		}
		home := random.IntN(world.Size())
		before, err := l.acquire(home)
		if err != nil {
			return err
		}
		if before != 0 {
			waited++
		}
		if err := errors.Join(l.count(home, before), l.release(home)); err != nil {
			return err
		}
		counted++
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	took := mpi.Wtime() - start
	mine, err := l.guarded(l.me)
	if err != nil {
		return err
	}
	sums := []int{counted, waited, int(mine[counter])}
	if err := mpi.Allreduce(world, sums, sums, mpi.Sum); err != nil {
		return err
	}
	if sums[0] != sums[2] {
		return fmt.Errorf("mcslock: locks were held %d times, and %d were counted", sums[0], sums[2])
	}
	if err := l.free(); err != nil || world.Rank() != 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d ranks: %d locks were taken %d times, %.3f million/s, %.0f%% from a rank that held it; counted %d, all checked\n",
		world.Size(), world.Size(), sums[0], float64(sums[0])/max(took, mpi.Wtick())/1e6, 100*float64(sums[1])/float64(max(sums[0], 1)), sums[2])
	return err
}
