package mpi_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/halo-mpi/halo/mpi"
)

// Four ranks add up their numbers. A program that is started by "halo run" calls Main instead of
// Run.
func ExampleRun() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		sum := []int{0}
		if err := mpi.Allreduce(world, []int{world.Rank()}, sum, mpi.Sum); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("the ranks add up to", sum[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: the ranks add up to 6
}

// Rank 0 sends a slice to rank 1. The receive buffer may be longer: Count is the number of
// received elements.
func ExampleRecv() {
	mpi.Run(2, func(world *mpi.Comm) error {
		const tag = 7
		if world.Rank() == 0 {
			return mpi.Send(world, []float64{3.5, 2.25}, 1, tag)
		}
		buf := make([]float64, 10)
		st, err := mpi.Recv(world, buf, mpi.AnySource, tag)
		if err != nil {
			return err
		}
		fmt.Println("from", st.Source, "tag", st.Tag, buf[:mpi.Count[float64](st)])
		return nil
	})
	// Output: from 0 tag 7 [3.5 2.25]
}

// RecvSlice does not need the length in advance.
func ExampleRecvSlice() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 0 {
			return mpi.Send(world, []byte("how long is a piece of string?"), 1, 0)
		}
		text, _, err := mpi.RecvSlice[byte](world, 0, 0)
		fmt.Printf("%s\n", text)
		return err
	})
	// Output: how long is a piece of string?
}

// Nonblocking calls return a request; buffers belong to the operation until it is complete.
// Errors of arguments are returned by the wait.
func ExampleIrecv() {
	mpi.Run(3, func(world *mpi.Comm) error {
		right, left := (world.Rank()+1)%3, (world.Rank()+2)%3
		got := []int{0}
		requests := []mpi.Request{
			mpi.Irecv(world, got, left, 0),
			mpi.Isend(world, []int{10 * world.Rank()}, right, 0),
		}
		// ... compute meanwhile ...
		if err := mpi.Waitall(requests, nil); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("rank 2 says", got[0])
		}
		return nil
	})
	// Output: rank 2 says 20
}

// A shift along a ring: Sendrecv sends and receives in one call and cannot deadlock.
func ExampleSendrecv() {
	mpi.Run(4, func(world *mpi.Comm) error {
		n := world.Size()
		right, left := (world.Rank()+1)%n, (world.Rank()+n-1)%n
		got := []int{0}
		_, err := mpi.Sendrecv(world, []int{world.Rank()}, right, 0, got, left, 0)
		if world.Rank() == 0 {
			fmt.Println("rank 0 has got", got[0])
		}
		return err
	})
	// Output: rank 0 has got 3
}

// A persistent request is made once and started many times.
func ExampleSendInit() {
	mpi.Run(2, func(world *mpi.Comm) error {
		value := []int{0}
		if world.Rank() == 0 {
			send := mpi.SendInit(world, value, 1, 0)
			defer send.Free()
			for i := range 3 {
				value[0] = i * i
				if err := send.Start(); err != nil {
					return err
				}
				if _, err := send.Wait(); err != nil {
					return err
				}
			}
			return nil
		}
		recv := mpi.RecvInit(world, value, 0, 0)
		defer recv.Free()
		for range 3 {
			if err := recv.Start(); err != nil {
				return err
			}
			if _, err := recv.Wait(); err != nil {
				return err
			}
			fmt.Println(value[0])
		}
		return nil
	})
	// Output:
	// 0
	// 1
	// 4
}

// A matched probe takes a message, so that no other goroutine can receive it.
func ExampleComm_Mprobe() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, []int32{1, 2, 3}, 0, 5)
		}
		message, st, err := world.Mprobe(mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return err
		}
		buf := make([]int32, mpi.Count[int32](st))
		if _, err := mpi.Mrecv(&message, buf); err != nil {
			return err
		}
		fmt.Println("rank", st.Source, "sent", buf)
		return nil
	})
	// Output: rank 1 sent [1 2 3]
}

// A rank serves the others in the order in which they answer.
func ExampleWaitany() {
	mpi.Run(3, func(world *mpi.Comm) error {
		if world.Rank() != 0 {
			return mpi.Send(world, []int{world.Rank() * 100}, 0, 0)
		}
		answers := make([][]int, 3)
		requests := make([]mpi.Request, 3) // the zero Request is the null request
		for r := 1; r < 3; r++ {
			answers[r] = []int{0}
			requests[r] = mpi.Irecv(world, answers[r], r, 0)
		}
		sum := 0
		for {
			i, _, err := mpi.Waitany(requests)
			if err != nil {
				return err
			}
			if i == mpi.Undefined { // none is left
				break
			}
			sum += answers[i][0]
		}
		fmt.Println("answers add up to", sum)
		return nil
	})
	// Output: answers add up to 300
}

// Bsend never waits for the receiver.
func ExampleBsend() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if err := mpi.BufferAttach(world, nil); err != nil { // of unlimited size
			return err
		}
		peer := 1 - world.Rank()
		if err := mpi.Bsend(world, []int{world.Rank()}, peer, 0); err != nil {
			return err
		}
		got := []int{-1}
		if _, err := mpi.Recv(world, got, peer, 0); err != nil {
			return err
		}
		if world.Rank() == 0 {
			fmt.Println("received", got[0])
		}
		_, err := mpi.BufferDetach(world)
		return err
	})
	// Output: received 1
}

// Split divides the ranks into several communicators.
func ExampleComm_Split() {
	mpi.Run(4, func(world *mpi.Comm) error {
		half, err := world.Split(world.Rank()%2, world.Rank())
		if err != nil {
			return err
		}
		sum := []int{0}
		if err := mpi.Reduce(half, []int{world.Rank()}, sum, mpi.Sum, 0); err != nil {
			return err
		}
		if world.Rank() == 1 {
			fmt.Println("the odd ranks add up to", sum[0])
		}
		return half.Free()
	})
	// Output: the odd ranks add up to 4
}

// Errors belong to a class of the standard and say what happened.
func ExampleError() {
	mpi.Run(2, func(world *mpi.Comm) error {
		if world.Rank() == 1 {
			return mpi.Send(world, make([]byte, 128), 0, 7)
		}
		_, err := mpi.Recv(world, make([]byte, 64), 1, 7)
		fmt.Println(errors.Is(err, mpi.ErrTruncate))
		var failed *mpi.Error
		if errors.As(err, &failed) {
			fmt.Println(failed.Call, failed.Object, failed.Peer, failed.Tag, failed.Class)
		}
		return nil
	})
	// Output:
	// true
	// Recv world 1 7 MPI_ERR_TRUNCATE
}
