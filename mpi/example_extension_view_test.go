package mpi_test

import (
	"fmt"
	"sync"

	"github.com/halo-mpi/halo/mpi"
)

// A window, and a duplicate of it with other hints.
func Example_duplicate() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 2)
		if err != nil {
			return err
		}
		defer win.Free()
		flags, err := win.Dup(mpi.WinOrder(true))
		if err != nil {
			return err
		}
		defer flags.Free()                                     // local
		win.LockAll(0)                                         // of both
		flags.Put([]int{world.Rank()}, 1-world.Rank(), 0)      // first
		flags.Put([]int{10 + world.Rank()}, 1-world.Rank(), 1) // then
		win.UnlockAll()                                        // completes both
		world.Barrier()
		if world.Rank() == 0 {
			fmt.Println(win.Local())
		}
		return nil
	})
	// Output: [1 11]
}

// Goroutines with separate flushes.
func Example_scope() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 4)
		if err != nil {
			return err
		}
		defer win.Free()
		win.LockAll(0)
		var workers sync.WaitGroup
		for i := range 4 {
			mine, err := win.Dup(mpi.ScopeThread)
			if err != nil {
				return err
			}
			workers.Go(func() {
				mine.Put([]int{i * i}, 1-world.Rank(), i)
				mine.Flush(1 - world.Rank()) // waits for this one only
				mine.Free()
			})
		}
		workers.Wait()
		win.UnlockAll()
		world.Barrier()
		if world.Rank() == 1 {
			fmt.Println(win.Local())
		}
		return nil
	})
	// Output: [0 1 4 9]
}

// The seed's listing 2: data, then a flag that announces it, without a flush between them.
func Example_order() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 3, mpi.WinOrder(true))
		if err != nil {
			return err
		}
		defer win.Free()
		win.LockAll(0)
		defer win.UnlockAll()
		if world.Rank() == 0 {
			win.Put([]int{4, 2}, 1, 1)
			return win.Accumulate([]int{1}, 1, 0, mpi.Sum)
		}
		for flag := 0; flag == 0; {
			win.FetchAndOp(nil, &flag, 1, 0, mpi.NoOp)
			win.FlushLocal(1)
		}
		fmt.Println(win.Local()[1:])
		return nil
	})
	// Output: [4 2]
}

// Test whether operations are intrinsic before asserting it.
func Example_intrinsic() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int64](world, 1)
		if err != nil {
			return err
		}
		defer win.Free()
		integer, _ := mpi.TypeOf[int64]()
		fast, err := win.OpIntrinsic("sum,cas", 1, integer)
		if err != nil {
			return err
		}
		win.SetInfo(mpi.AccumulateIntrinsic(fast))
		one, ticket := int64(1), int64(0)
		win.LockAll(0)
		win.FetchAndOp(&one, &ticket, 0, 0, mpi.Sum)
		win.UnlockAll() // the ticket is here
		sum, err := mpi.AllreduceOne(world, ticket, mpi.Sum)
		if world.Rank() == 0 {
			fmt.Println("tickets 0 and", sum)
		}
		return err
	})
	// Output: tickets 0 and 1
}

// The seed's listing 6: a request that completes when the target has the data.
func Example_remoteCompletion() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[float64](world, 1)
		if err != nil {
			return err
		}
		defer win.Free()
		win.LockAll(0)
		defer win.UnlockAll()
		if world.Rank() == 0 {
			put := win.Rrput([]float64{2.5}, 1, 0)
			// ... compute ...
			put.Wait() // no flush
		}
		_, err = mpi.AllreduceOne(world, 1, mpi.Sum)
		if world.Rank() == 1 {
			fmt.Println(win.Local())
		}
		return err
	})
	// Output: [2.5]
}
