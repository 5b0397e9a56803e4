package mpi_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// A lock of one word: the rank that changes it from 0 to 1 holds it.
func ExampleWin_CompareSwap() {
	mpi.Run(3, func(world *mpi.Comm) error {
		w, err := mpi.WinAllocate[int](world, 2) // the lock, and what it protects
		if err != nil {
			return err
		}
		if err := w.LockAll(0); err != nil {
			return err
		}
		const free, held = 0, 1
		for was := held; was != free; {
			was, err = w.CompareSwap(held, free, 0, 0)
			if err != nil {
				return err
			}
		}
		count := []int{0}
		err = errors.Join(w.Get(count, 0, 1), w.Flush(0))
		count[0]++
		err = errors.Join(err, w.Put(count, 0, 1), w.Flush(0))
		if _, failed := w.FetchOp(free, 0, 0, mpi.Replace); failed != nil {
			err = failed
		}
		err = errors.Join(err, w.UnlockAll(), world.Barrier())
		if world.Rank() == 0 {
			fmt.Println("counted to", w.Local()[1])
		}
		return errors.Join(err, w.Free())
	})
	// Output: counted to 3
}

// Rank 0 reads a column of a matrix that rank 1 stores by rows.
func ExampleUntyped_Get() {
	mpi.Run(2, func(world *mpi.Comm) error {
		const rows, columns = 3, 4
		w, err := mpi.WinAllocate[float64](world, rows*columns)
		if err != nil {
			return err
		}
		for i := range w.Local() {
			w.Local()[i] = float64(10*(i/columns) + i%columns)
		}
		number, err := mpi.TypeOf[float64]()
		if err != nil {
			return err
		}
		column, err := mpi.TypeVector(rows, 1, columns, number)
		if err != nil {
			return err
		}
		got := make([]float64, rows)
		err = errors.Join(column.Commit(), w.Fence(0))
		if world.Rank() == 0 {
			err = errors.Join(err, w.Untyped().Get(mpi.Buf(got), 1, 2, 1, column))
		}
		if err := errors.Join(err, w.Fence(0)); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println(got)
		}
		return w.Free()
	})
	// Output: [2 12 22]
}

// Hints describe the use of a window when it is made; Info returns the hints that Halo knows.
func ExampleWindow_Info() {
	mpi.Run(1, func(world *mpi.Comm) error {
		w, err := mpi.WinAllocate[int](world, 1, mpi.OrderNone)
		if err != nil {
			return err
		}
		info, err := w.Info()
		if err != nil {
			return err
		}
		ordering, _ := info.Get("accumulate_ordering")
		locks, _ := info.Get("no_locks")
		fmt.Println(ordering, locks)
		return w.Free()
	})
	// Output: none false
}

// A handler is called for the errors of calls on its window.
func ExampleCreateWinErrhandler() {
	mpi.Run(1, func(world *mpi.Comm) error {
		w, err := mpi.WinAllocate[int](world, 10)
		if err != nil {
			return err
		}
		log := mpi.CreateWinErrhandler(func(w *mpi.Window, err *mpi.Error) {
			fmt.Println(w.Name(), "noticed", err.Class)
		})
		if err := errors.Join(w.SetName("grid"), w.SetErrhandler(log)); err != nil {
			return err
		}
		fmt.Println(w.Put([]int{1}, 0, 0) != nil) // outside of an epoch
		return w.Free()
	})
	// Output:
	// grid noticed MPI_ERR_RMA_SYNC
	// true
}
