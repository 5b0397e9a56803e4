package mpi_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Each rank writes into the memory of the next rank, between two fences.
func Example_putBetweenFences() {
	mpi.Run(3, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 1)
		if err != nil {
			return err
		}
		defer win.Free()
		win.Fence(0)
		win.Put([]int{world.Rank()}, (world.Rank()+1)%3, 0)
		win.Fence(0) // now it is there
		if world.Rank() == 0 {
			fmt.Println("rank 2 has put", win.Local()[0])
		}
		return nil
	})
	// Output: rank 2 has put 2
}

// All ranks take numbers from a counter at rank 0, which does something else meanwhile.
func Example_fetchAndOp() {
	mpi.Run(4, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int64](world, 1)
		if err != nil {
			return err
		}
		defer win.Free()
		var one, mine int64 = 1, 0
		win.Lock(mpi.LockShared, 0, 0)
		err = win.FetchAndOp(&one, &mine, 0, 0, mpi.Sum)
		win.Unlock(0) // now mine has arrived
		sum, _ := mpi.AllreduceOne(world, mine, mpi.Sum)
		if world.Rank() == 0 {
			fmt.Println("the numbers add up to", sum)
		}
		return err
	})
	// Output: the numbers add up to 6
}

// A window of bytes contains numbers of two types, to which all ranks add.
func ExampleAccumulate() {
	mpi.Run(3, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[byte](world, 16)
		if err != nil {
			return err
		}
		defer win.Free()
		win.Fence(0)
		mpi.Accumulate(win.Window, []int64{1}, 0, 0, mpi.Sum)
		mpi.Accumulate(win.Window, []float64{0.5}, 0, 8, mpi.Sum) // displacements count bytes
		win.Fence(0)
		count, total := make([]int64, 1), make([]float64, 1)
		if world.Rank() == 1 {
			err = errors.Join(
				mpi.GetAccumulate(win.Window, make([]int64, 1), count, 0, 0, mpi.NoOp),
				mpi.GetAccumulate(win.Window, make([]float64, 1), total, 0, 8, mpi.NoOp))
		}
		win.Fence(0) // now the results are there
		if world.Rank() == 1 {
			fmt.Println(count[0], total[0])
		}
		return err
	})
	// Output: 3 1.5
}

// A value goes from rank 0 to rank 1, and no other rank waits.
func Example_postStartCompleteWait() {
	mpi.Run(3, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[float64](world, 1)
		if err != nil {
			return err
		}
		defer win.Free()
		all, _ := win.Group()
		switch world.Rank() {
		case 0:
			targets, _ := all.Incl([]int{1})
			win.Start(targets, 0)
			win.Put([]float64{1.5}, 1, 0)
			return win.Complete()
		case 1:
			origins, _ := all.Incl([]int{0})
			win.Post(origins, 0)
			err = win.Wait()
			fmt.Println("rank 1 has", win.Local()[0])
		}
		return err
	})
	// Output: rank 1 has 1.5
}

// Many contributions to the same elements: no update is lost.
func Example_accumulate() {
	mpi.Run(3, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int32](world, 4)
		if err != nil {
			return err
		}
		defer win.Free()
		win.Fence(0)
		for word := range 12 {
			win.Accumulate([]int32{1}, 0, word%4, mpi.Sum) // a histogram at rank 0
		}
		win.Fence(0)
		if world.Rank() == 0 {
			fmt.Println(win.Local())
		}
		return nil
	})
	// Output: [9 9 9 9]
}

// One epoch for a whole phase of a program: Flush says when an operation is complete.
func Example_lockAll() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 100)
		if err != nil {
			return err
		}
		defer win.Free()
		win.LockAll(mpi.ModeNoCheck) // nobody locks exclusively
		defer win.UnlockAll()
		if world.Rank() == 0 {
			win.Put([]int{1, 2, 3}, 1, 10)
			win.Flush(1) // it is at rank 1, which does not know
			return mpi.Send(world, []byte{}, 1, 0)
		}
		_, err = mpi.Recv(world, []byte{}, 0, 0)
		win.Sync() // what others have put is what I load
		fmt.Println(win.Local()[10:13])
		return err
	})
	// Output: [1 2 3]
}

// A slice at the origin becomes a column of a matrix at the target, by means of a datatype.
func ExampleUntyped_Put() {
	mpi.Run(2, func(world *mpi.Comm) error {
		const rows, columns = 3, 4
		win, err := mpi.WinAllocate[float64](world, rows*columns)
		if err != nil {
			return err
		}
		defer win.Free()
		float, _ := mpi.TypeOf[float64]()
		column, _ := mpi.TypeVector(rows, 1, columns, float)
		column.Commit()
		win.Fence(0)
		if world.Rank() == 0 {
			err = win.Untyped().Put(mpi.Buf([]float64{1, 2, 3}), 1, 2, 1, column) // column 2
		}
		win.Fence(0)
		if world.Rank() == 1 {
			fmt.Println(win.Local())
		}
		return err
	})
	// Output: [0 0 1 0 0 0 2 0 0 0 3 0]
}

// Ranks of one host access each other's memory with loads and stores.
func ExampleWinAllocateShared() {
	mpi.Run(2, func(world *mpi.Comm) error {
		host, err := world.SplitType(mpi.CommTypeShared, 0)
		if err != nil {
			return err
		}
		defer host.Free()
		win, err := mpi.WinAllocateShared[int](host, 1)
		if err != nil {
			return err
		}
		defer win.Free()
		win.Local()[0] = 10 + host.Rank()
		win.Fence(0)
		theirs, err := win.Shared(1 - host.Rank())
		if host.Rank() == 0 {
			fmt.Println("rank 1 has stored", theirs[0])
		}
		win.Fence(0)
		return err
	})
	// Output: rank 1 has stored 11
}

// Memory that is attached later: the owner tells the others its address.
func ExampleAttach() {
	mpi.Run(2, func(world *mpi.Comm) error {
		win, err := world.WinCreateDynamic()
		if err != nil {
			return err
		}
		defer win.Free()
		address := []int64{0}
		mine, err := mpi.AllocMem[int32](world, 8) // reached directly on this host
		if err != nil {
			return err
		}
		defer mpi.FreeMem(world, mine)
		if world.Rank() == 1 {
			mpi.Attach(win, mine)
			defer mpi.Detach(win, mine)
			address[0] = mpi.Address(mine)
		}
		mpi.Bcast(world, address, 1)
		win.Fence(0)
		if world.Rank() == 0 {
			err = mpi.Win[int32]{Window: win}.Put([]int32{7}, 1, int(mpi.AintAdd(address[0], 3*4)))
		}
		win.Fence(0)
		if world.Rank() == 1 {
			fmt.Println(mine)
		}
		return err
	})
	// Output: [0 0 0 7 0 0 0 0]
}

// A request says when a single operation is complete at the origin.
func ExampleWin_Rget() {
	mpi.Run(2, func(world *mpi.Comm) error {
		mine := []int{10 * world.Rank(), 20 * world.Rank()}
		win, err := mpi.WinCreate(world, mine) // over memory that there is
		if err != nil {
			return err
		}
		defer win.Free()
		got := make([]int, 2)
		win.Lock(mpi.LockShared, 1, 0)
		request := win.Rget(got, 1, 0)
		// ... compute ...
		_, err = request.Wait()
		win.Unlock(1)
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return err
	})
	// Output: [10 20]
}
