package mpi_test

import (
	"context"
	"fmt"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

// A program starts four processes of itself, which find it by Parent, and sends each a number.
func ExampleComm_Spawn() {
	mpi.Main(func(world *mpi.Comm) error {
		if parent := world.Parent(); parent != nil {
			n := []int64{0}
			if _, err := mpi.Recv(parent, n, 0, 1); err != nil {
				return err
			}
			fmt.Println("worker", world.Rank(), "got", n[0])
			return parent.Disconnect()
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		workers, _, err := world.Spawn(context.Background(), 0, mpi.Command{Program: self, N: 4})
		if err != nil {
			return err // of class mpi.ErrSpawn, with the reason
		}
		for i := range workers.RemoteSize() {
			if world.Rank() == 0 {
				if err := mpi.Send(workers, []int64{int64(10 * i)}, i, 1); err != nil {
					return err
				}
			}
		}
		return workers.Disconnect()
	})
}

// A pool grows by as many processes as there are free slots, if there are any.
func ExampleComm_FreeSlots() {
	mpi.Main(func(world *mpi.Comm) error {
		if parent := world.Parent(); parent != nil {
			return parent.Disconnect()
		}
		n := []int64{0}
		if world.Rank() == 0 {
			free, err := world.FreeSlots(context.Background())
			if err != nil {
				return err
			}
			n[0] = int64(free)
		}
		if err := mpi.Bcast(world, n, 0); err != nil || n[0] == 0 {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		workers, _, err := world.Spawn(context.Background(), 0, mpi.Command{Program: self, N: int(n[0])})
		if err != nil {
			return err // also if others took a slot meanwhile
		}
		return workers.Disconnect()
	})
}
