package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Rank 0 waits until the other ranks have put their values.
func Example_putNotify() {
	mpi.Run(4, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[float64](world, 100)
		if err != nil {
			return err
		}
		defer win.Free()
		win.LockAll(0)
		defer win.UnlockAll()
		if world.Rank() > 0 {
			win.PutNotify([]float64{float64(world.Rank())}, 0, world.Rank(), 7)
		} else {
			win.WaitNotify(7, world.Size()-1) // what they have put is there then
			fmt.Println(win.Local()[1:world.Size()])
		}
		return nil
	})
	// Output: [1 2 3]
}
