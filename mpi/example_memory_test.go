package mpi_test

import (
	"fmt"
	"log"

	"github.com/halo-mpi/halo/mpi"
)

// Processes of the node put directly into memory of AllocMem; here each rank stores its number
// in the memory of the next rank.
func ExampleAllocMem() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		mem, err := mpi.AllocMem[int64](world, 1)
		if err != nil {
			return err
		}
		w, err := mpi.WinCreate(world, mem)
		if err != nil {
			return err
		}
		if err := w.Fence(0); err != nil {
			return err
		}
		next := (world.Rank() + 1) % world.Size()
		if err := w.Put([]int64{int64(world.Rank())}, next, 0); err != nil {
			return err
		}
		if err := w.Fence(0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("rank", mem[0], "was here")
		}
		if err := w.Free(); err != nil {
			return err
		}
		return mpi.FreeMem(world, mem)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: rank 3 was here
}
