package mpi_test

import (
	"errors"
	"fmt"

	"github.com/halo-mpi/halo/mpi"
)

// Ranks can be goroutines of one process: the same function runs under
// "halo run" through mpi.Main.
func ExampleRun() {
	err := mpi.Run(3, func(world *mpi.Comm) error {
		sum := make([]int, 1)
		if err := mpi.Allreduce(world, []int{world.Rank() + 1}, sum, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("the sum of 1 to", world.Size(), "is", sum[0])
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// the sum of 1 to 3 is 6
	// <nil>
}

// A message has a destination and a tag; the receiver learns its length.
func ExampleSend() {
	mpi.Run(2, func(world *mpi.Comm) error {
		const tag = 7
		if world.Rank() == 0 {
			return mpi.Send(world, []float64{1.5, 2.5}, 1, tag)
		}
		buf := make([]float64, 10)
		st, err := mpi.Recv(world, buf, mpi.AnySource, tag)
		if err != nil {
			return err
		}
		fmt.Println("from", st.Source, buf[:mpi.Count[float64](st)])
		return nil
	})
	// Output: from 0 [1.5 2.5]
}

// Communication goes on while the program computes; Waitall completes it.
func ExampleIsend() {
	mpi.Run(2, func(world *mpi.Comm) error {
		peer := 1 - world.Rank()
		got := make([]int, 1)
		requests := []mpi.Request{
			mpi.Irecv(world, got, peer, 0),
			mpi.Isend(world, []int{10 + world.Rank()}, peer, 0),
		}
		if err := mpi.Waitall(requests, nil); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("rank 0 got", got[0])
		}
		return nil
	})
	// Output: rank 0 got 11
}

// A matched probe tells the length of a message before it is received, and
// keeps it from everybody else.
func ExampleComm_Mprobe() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int32{2, 3, 5, 7}, 0, 1)
		}
		message, st, err := world.Mprobe(mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return err
		}
		primes := make([]int32, mpi.Count[int32](st))
		if _, err := mpi.Mrecv(&message, primes); err != nil {
			return err
		}
		fmt.Println(primes)
		return nil
	})
	// Output: [2 3 5 7]
}

// Split makes communicators of their own for the even and the odd ranks.
func ExampleComm_Split() {
	mpi.Run(4, func(world *mpi.Comm) error {
		half, err := world.Split(world.Rank()%2, world.Rank())
		if err != nil {
			return err
		}
		defer half.Free()
		sum := make([]int, 1)
		if err := mpi.Reduce(half, []int{world.Rank()}, sum, mpi.Sum, 0); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println("the odd ranks add up to", sum[0])
		}
		return nil
	})
	// Output: the odd ranks add up to 4
}

// Gather collects a block from every rank, in rank order.
func ExampleGather() {
	mpi.Run(3, func(world *mpi.Comm) error {
		var all []string
		squares := make([]int, world.Size())
		if err := mpi.Gather(world, []int{world.Rank() * world.Rank()}, squares, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			for r, s := range squares {
				all = append(all, fmt.Sprintf("%d^2=%d", r, s))
			}
			fmt.Println(all)
		}
		return nil
	})
	// Output: [0^2=0 1^2=1 2^2=4]
}

// Errors carry a class of the standard.
func ExampleError() {
	mpi.Run(1, func(world *mpi.Comm) error {
		err := mpi.Send(world, []int{1}, 5, 0)
		fmt.Println(err)
		fmt.Println(errors.Is(err, mpi.ErrRank))
		return nil
	})
	// Output:
	// mpi: Send on world to 5 tag 0: rank 5 in a communicator of 1 (MPI_ERR_RANK)
	// true
}
