package mpi_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// All messages are pending at the same time; the ends of the chain have only one neighbour.
func ExampleWaitall() {
	mpi.Run(3, func(world *mpi.Comm) error {
		left, right := world.Rank()-1, world.Rank()+1
		if left < 0 {
			left = mpi.ProcNull
		}
		if right == world.Size() {
			right = mpi.ProcNull
		}
		mine := []int{world.Rank() * 100}
		fromLeft, fromRight := []int{-1}, []int{-1}
		err := mpi.Waitall([]mpi.Request{
			mpi.Irecv(world, fromLeft, left, 0),
			mpi.Irecv(world, fromRight, right, 0),
			mpi.Isend(world, mine, left, 0),
			mpi.Isend(world, mine, right, 0),
		}, nil)
		if world.Rank() == 0 {
			fmt.Println(fromLeft[0], fromRight[0])
		}
		return err
	})
	// Output: -1 100
}

// Waitsome completes all operations that are ready.
func ExampleWaitsome() {
	mpi.Run(4, func(world *mpi.Comm) error {
		if world.Rank() != 0 {
			return mpi.Send(world, []int{world.Rank()}, 0, 0)
		}
		values := make([]int, 4)
		requests := make([]mpi.Request, 4) // the zero Request is the null request
		for r := 1; r < 4; r++ {
			requests[r] = mpi.Irecv(world, values[r:r+1], r, 0)
		}
		sum, indices := 0, make([]int, 4)
		for {
			n, err := mpi.Waitsome(requests, indices, nil)
			if err != nil {
				return err
			}
			if n == mpi.Undefined { // none is left
				break
			}
			for _, i := range indices[:n] {
				sum += values[i]
			}
		}
		fmt.Println(sum)
		return nil
	})
	// Output: 6
}

// Test tells whether a request is complete, and does not wait.
func ExampleRequest_Test() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int{42}, 0, 0)
		}
		answer := []int{0}
		r := mpi.Irecv(world, answer, 1, 0)
		for {
			_, done, err := r.Test()
			if err != nil {
				return err
			}
			if done {
				break
			}
			// ... compute a little ...
		}
		fmt.Println(answer[0])
		return nil
	})
	// Output: 42
}

// A wait can be given up; the receive remains pending unless it is cancelled.
func ExampleRequest_WaitContext() {
	mpi.Run(1, func(world *mpi.Comm) error {
		r := mpi.Irecv(world, []int{0}, mpi.AnySource, 0)
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // in a program: a deadline, or a signal
		_, err := r.WaitContext(ctx)
		fmt.Println(errors.Is(err, context.Canceled))
		if err := r.Cancel(); err != nil {
			return err
		}
		status, err := r.Wait()
		fmt.Println(status.Cancelled())
		return err
	})
	// Output:
	// true
	// true
}

// A barrier that does not block: when its request is complete, all ranks have reached it.
func ExampleComm_Ibarrier() {
	mpi.Run(3, func(world *mpi.Comm) error {
		r := world.Ibarrier()
		// ... continue with work that does not need the other ranks ...
		_, err := r.Wait()
		if world.Rank() == 0 {
			fmt.Println("all are there")
		}
		return err
	})
	// Output: all are there
}

// Dup separates the messages of a library from those of its caller, with the same ranks and
// tags.
func ExampleComm_Dup() {
	mpi.Run(2, func(world *mpi.Comm) error {
		library, err := world.Dup()
		if err != nil {
			return err
		}
		defer library.Free()
		if world.Rank() == 0 {
			return errors.Join(
				mpi.Send(world, []int{1}, 1, 0),
				mpi.Send(library, []int{2}, 1, 0),
			)
		}
		got := make([]int, 2)
		_, first := mpi.Recv(library, got[:1], 0, 0)
		_, second := mpi.Recv(world, got[1:], 0, 0)
		fmt.Println(got)
		return errors.Join(first, second)
	})
	// Output: [2 1]
}

// Groups translate the ranks of one communicator to another.
func ExampleGroup_TranslateRanks() {
	mpi.Run(4, func(world *mpi.Comm) error {
		half, err := world.Split(world.Rank()/2, 0)
		if err != nil {
			return err
		}
		defer half.Free()
		all, err := world.Group()
		if err != nil {
			return err
		}
		mine, err := half.Group()
		if err != nil {
			return err
		}
		ranks, err := mine.TranslateRanks([]int{0, 1}, all)
		if world.Rank() == 3 {
			fmt.Println(ranks)
		}
		return err
	})
	// Output: [2 3]
}
