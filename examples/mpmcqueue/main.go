// Command mpmcqueue lets all ranks produce and consume, by a bounded queue in a window:
// items leave in the order in which they enter, and no rank serves the queue.
//
//	go run ./cmd/halo run -n 4 ./examples/mpmcqueue [-items N] [-slots N] [-seconds N]
//
// Each rank has a goroutine that pushes N numbered items, and one that pops whatever comes
// next. Each item must arrive exactly once, and those of a producer in their order.
// With -seconds producers continue for so long.
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
	items := flag.Int("items", 500, "push `N` items on each rank")
	slots := flag.Int("slots", 16, "have room for `N` items on each rank")
	seconds := flag.Float64("seconds", 0, "push for `N` seconds instead")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, *items, *slots, *seconds, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, items, slots int, seconds float64, out io.Writer) error {
	if items < 0 || slots < 1 || !(seconds >= 0) {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("mpmcqueue: -items is %d, -slots is %d and -seconds is %v: want no negative ones, and a slot", items, slots, seconds)
	}
	q, err := newQueue(world, slots)
	if err != nil {
		return err
	}
	start := mpi.Wtime()
	p, c := &producer{user: user{queue: q}, me: world.Rank()}, newConsumer(q)
	more := func() bool {
		if seconds > 0 {
			return mpi.Wtime()-start < seconds
		}
		return p.items < items
	}
	failed := make(chan error, 1)
	go func() { failed <- p.produce(more) }()
	if err := errors.Join(c.consume(), <-failed); err != nil {
		return err
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	took := mpi.Wtime() - start

	sums := []int{p.items, c.items, p.waited, c.waited}
	checks := []uint64{p.check, c.check}
	if err := errors.Join(mpi.Allreduce(world, sums, sums, mpi.Sum), mpi.Allreduce(world, checks, checks, mpi.Sum)); err != nil {
		return err
	}
	if sums[0] != sums[1] || checks[0] != checks[1] {
		return fmt.Errorf("mpmcqueue: %d items were pushed and %d popped, with sums %#x and %#x", sums[0], sums[1], checks[0], checks[1])
	}
	if err := q.free(); err != nil || world.Rank() != 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d ranks: %d items through %d slots, %.3f million/s; producers waited %.1f looks an item, consumers %.1f; all came once, in order\n",
		world.Size(), sums[0], q.slots, float64(sums[0])/max(took, mpi.Wtick())/1e6,
		float64(sums[2])/float64(max(1, sums[0])), float64(sums[3])/float64(max(1, sums[0])))
	return err
}
