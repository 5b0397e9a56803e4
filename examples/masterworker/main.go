// Command masterworker looks for primes. Rank 0 hands out ranges of numbers one
// at a time, to whichever worker has finished its last: ranges of larger
// numbers take longer, and nobody waits for the slowest.
//
//	go run ./cmd/halo run -n 4 ./examples/masterworker -limit 10000000
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	limit := flag.Int("limit", 1_000_000, "look for primes below this number")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error {
		if world.Rank() != 0 {
			return work(world)
		}
		primes, err := master(world, *limit)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(os.Stdout, "%d primes below %d, found on %d ranks\n",
			len(primes), *limit, world.Size())
		return err
	})
}

const (
	chunk   = 10_000 // numbers in one task
	stopTag = 0      // to a worker: there is nothing left to do
	taskTag = 1      // tag of the first task; the result of a task has the same tag
)

// master returns all primes below limit, in order. Alone, it finds them itself.
func master(world *mpi.Comm, limit int) ([]int, error) {
	tasks := max(0, (limit+chunk-1)/chunk)
	if world.Size() == 1 {
		return primesIn(0, limit), nil
	}

	next, busy := 0, 0
	feed := func(worker int) error {
		if next == tasks {
			return mpi.Send(world, []int{}, worker, stopTag)
		}
		lo := next * chunk
		hi := min(lo+chunk, limit)
		err := mpi.Send(world, []int{lo, hi}, worker, taskTag+next)
		next, busy = next+1, busy+1
		return err
	}
	for worker := 1; worker < world.Size(); worker++ {
		if err := feed(worker); err != nil {
			return nil, err
		}
	}

	// A result comes from any worker and has any length. Mprobe takes it out
	// of the queue, so that its size can be read before it is received.
	found := make([][]int, tasks)
	for busy > 0 {
		message, status, err := world.Mprobe(mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return nil, err
		}
		primes := make([]int, mpi.Count[int](status))
		if _, err := mpi.Mrecv(&message, primes); err != nil {
			return nil, err
		}
		found[status.Tag-taskTag] = primes
		busy--
		if err := feed(status.Source); err != nil {
			return nil, err
		}
	}

	var all []int
	for _, primes := range found {
		all = append(all, primes...)
	}
	return all, nil
}

// work does tasks until rank 0 has no more.
func work(world *mpi.Comm) error {
	task := make([]int, 2)
	for {
		status, err := mpi.Recv(world, task, 0, mpi.AnyTag)
		if err != nil || status.Tag == stopTag {
			return err
		}
		if err := mpi.Send(world, primesIn(task[0], task[1]), 0, status.Tag); err != nil {
			return err
		}
	}
}

// primesIn returns the primes p with lo <= p < hi.
func primesIn(lo, hi int) []int {
	var primes []int
	for n := max(lo, 2); n < hi; n++ {
		if isPrime(n) {
			primes = append(primes, n)
		}
	}
	return primes
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}
