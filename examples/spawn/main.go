// Command spawn starts workers while it runs, and has them compute.
//
//	go run ./cmd/halo run ./examples/spawn -workers 3
//	go build ./examples/spawn && ./spawn -workers 3
//
// The second form has no launcher, and needs the command halo in PATH: see docs/dynamic.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	workers := flag.Int("workers", 2, "how many workers to start")
	upTo := flag.Int64("n", 1000, "the largest number of the sum")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		if parent := world.Parent(); parent != nil {
			return work(world, parent)
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		all, _, err := world.Spawn(context.Background(), 0, mpi.Command{Program: self, N: *workers})
		if err != nil {
			return err
		}
		sum, err := sumBy(world, all, *upTo)
		if err == nil && world.Rank() == 0 {
			_, err = fmt.Printf("%d workers: the sum of the numbers up to %d is %d\n", *workers, *upTo, sum)
		}
		return err
	})
}

// sumBy returns, at rank 0, the sum of 1 to n, which the workers on the other side of all compute.
func sumBy(world, all *mpi.Comm, n int64) (int64, error) {
	// In a collective on an intercommunicator data move between the groups: the root of this group passes Root.
	root := mpi.ProcNull
	if world.Rank() == 0 {
		root = mpi.Root
	}
	if err := mpi.Bcast(all, []int64{n}, root); err != nil {
		return 0, err
	}
	sum := []int64{0}
	if err := mpi.Reduce(all, nil, sum, mpi.Sum, root); err != nil {
		return 0, err
	}
	return sum[0], all.Disconnect()
}

// work adds every size-th number, from rank + 1 on.
func work(world, parent *mpi.Comm) error {
	n := []int64{0}
	if err := mpi.Bcast(parent, n, 0); err != nil {
		return err
	}
	sum := []int64{0}
	for i := int64(world.Rank()) + 1; i <= n[0]; i += int64(world.Size()) {
		sum[0] += i
	}
	if err := mpi.Reduce(parent, sum, nil, mpi.Sum, 0); err != nil {
		return err
	}
	return parent.Disconnect()
}
