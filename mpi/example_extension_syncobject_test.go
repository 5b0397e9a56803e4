package mpi_test

import (
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Every other rank puts into an element of rank 0, which waits once for all of them.
func Example_syncObjects() {
	mpi.Run(4, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 3)
		if err != nil {
			return err
		}
		defer win.Free()
		sync := make([]mpi.Sync, 1)
		if world.Rank() == 0 {
			sync, _ = win.AllocSyncObjects(1, nil)
		}
		mpi.Bcast(world, sync, 0) // the others get a handle
		win.LockAll(mpi.ModeNoCheck)
		defer win.UnlockAll()
		if world.Rank() == 0 {
			come := win.SyncObjectInit(sync[0], 3) // three signals
			for range 2 {
				come.Start()
				come.Wait()
			}
			fmt.Println(win.Local())
			return come.Free()
		}
		put := win.SyncOpsInit(0, mpi.ModeWinPut, sync[0])
		for round := range 2 {
			put.Start()
			win.Put([]int{10*round + world.Rank()}, 0, world.Rank()-1)
			put.Wait() // rank 0 is signalled behind the put
		}
		return put.Free()
	})
	// Output: [11 12 13]
}

// A window of two ranks gets two more members, with other ranks.
func Example_winChangeComm() {
	mpi.Run(4, func(world *mpi.Comm) error {
		few, err := world.Split(world.Rank()/2, 0)
		if err != nil {
			return err
		}
		var win *mpi.Window // nil in newcomers
		if world.Rank() < 2 {
			w, err := mpi.WinAllocate[int](few, 2)
			if err != nil {
				return err
			}
			win = w.Window
		}
		all, err := world.Split(0, -world.Rank()) // in reverse order
		if err != nil {
			return err
		}
		win, err = mpi.WinChangeComm(win, all, 3) // rank 3 of all, 0 of world, is a member
		if err != nil {
			return err
		}
		defer win.Free()
		numbers := mpi.Win[int]{Window: win}
		win.Fence(0)
		if all.Rank() < 2 { // the newcomers
			numbers.Put([]int{7 + all.Rank()}, 3, all.Rank())
		}
		win.Fence(0)
		if all.Rank() == 3 {
			fmt.Println(numbers.Local())
		}
		return nil
	})
	// Output: [7 8]
}
