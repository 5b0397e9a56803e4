//go:build linux && !race

package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/halo-mpi/halo/mpi"
)

// Two jobs on one machine, which have met at a port, share the memory of a window: each loads what the other one has
// stored.
func ExampleWinAllocateShared_severalJobs() {
	share := func(inter *mpi.Comm, high bool, mine int) (theirs int, err error) {
		all, err := inter.Merge(high)
		if err != nil {
			return 0, err
		}
		w, err := mpi.WinAllocateShared[int](all, 1)
		if err != nil {
			return 0, err
		}
		if err := w.Fence(0); err != nil {
			return 0, err
		}
		w.Local()[0] = mine
		if err := w.Fence(0); err != nil {
			return 0, err
		}
		other, err := w.Shared(1 - all.Rank())
		if err != nil {
			return 0, err
		}
		theirs = other[0]
		return theirs, errors.Join(w.Fence(mpi.ModeNoSucceed), w.Free(), all.Disconnect(), inter.Disconnect())
	}
	names := make(chan string, 1)
	served := make(chan error)
	go func() {
		served <- mpi.Run(1, func(world *mpi.Comm) error {
			port, err := mpi.OpenPort(world)
			if err != nil {
				return err
			}
			defer port.Close()
			names <- port.Name()
			inter, err := port.Accept(context.Background(), world, 0)
			if err != nil {
				return err
			}
			_, err = share(inter, false, 42)
			return err
		})
	}()
	err := mpi.Run(1, func(world *mpi.Comm) error {
		inter, err := mpi.Connect(context.Background(), <-names, world, 0)
		if err != nil {
			return err
		}
		theirs, err := share(inter, true, 7)
		fmt.Println("the other job has stored", theirs)
		return err
	})
	err = errors.Join(err, <-served)
	if err != nil {
		log.Fatal(err)
	}
	// Output: the other job has stored 42
}
