// Hang is a program whose ranks wait forever, for tests of halo ps and of the launcher. Argument i is
// the task of rank i; argument 0 is also the task of ranks without an argument.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

func main() {
	rank, _ := strconv.Atoi(os.Getenv("HALO_RANK"))
	what := os.Args[1]
	if rank+1 < len(os.Args) {
		what = os.Args[rank+1]
	}
	if what == "outside" { // never calls Init
		time.Sleep(time.Hour)
	}
	mpi.Main(func(world *mpi.Comm) error {
		if world.Rank() != rank {
			return fmt.Errorf("rank %d is told that it is rank %d", rank, world.Rank())
		}
		return do(world, what)
	})
}

func do(world *mpi.Comm, what string) error {
	next := (world.Rank() + 1) % world.Size()
	one, two := make([]int, 1), make([]int, 1)
	switch what {
	case "recv":
		_, err := mpi.Recv(world, one, next, 7)
		return err
	case "itself":
		_, err := mpi.Recv(world, one, world.Rank(), 7)
		return err
	case "tags": // receives a tag that nobody sends
		d, err := world.Dup()
		if err != nil {
			return err
		}
		d.SetName("apart")
		for range 2 {
			if err := mpi.Send(world, one, next, 1); err != nil {
				return err
			}
		}
		time.Sleep(100 * time.Millisecond) // so that a message comes while the other rank sleeps
		if err := mpi.Send(d, make([]int, 2), next, 3); err != nil {
			return err
		}
		_, err = mpi.Recv(world, one, next, 2)
		return err
	case "any":
		_, err := mpi.Recv(world, one, mpi.AnySource, mpi.AnyTag)
		return err
	case "waits": // for rank 0, on a communicator with other ranks
		d, err := world.Split(0, -world.Rank())
		if err != nil {
			return err
		}
		if err := d.SetName("turned"); err != nil {
			return err
		}
		if world.Rank() == 0 {
			time.Sleep(time.Second) // the others wait for a rank that computes
			_, err = mpi.Recv(d, one, mpi.AnySource, 3)
			return err
		}
		_, err = mpi.Recv(d, one, d.Size()-1, 2)
		return err
	case "ssend":
		return mpi.Ssend(world, one, next, 5)
	case "send":
		return mpi.Send(world, make([]int, 1<<20), next, 12)
	case "rsend":
		return mpi.Rsend(world, make([]int, 1<<20), next, 11)
	case "sendrecv":
		_, err := mpi.Sendrecv(world, one, next, 13, two, next, 13)
		return err
	case "replace":
		_, err := mpi.SendrecvReplace(world, one, next, 14, next, 14)
		return err
	case "mprobe":
		_, _, err := world.Mprobe(next, 9)
		return err
	case "parent": // waits for what it has spawned
		c, _, err := world.Spawn(context.Background(), 0, mpi.Command{Program: os.Args[0], Args: []string{"sleep"}, N: 1})
		if err != nil {
			return err
		}
		_, err = mpi.Recv(c, one, 0, 8)
		return err
	case "probe":
		_, err := world.Probe(next, 9)
		return err
	case "waitall":
		rs := []mpi.Request{mpi.Irecv(world, one, next, 3), mpi.Irecv(world, two, next, 4)}
		return mpi.Waitall(rs, nil)
	case "waitany":
		rs := []mpi.Request{mpi.Irecv(world, one, next, 1), mpi.Irecv(world, two, next, 2)}
		_, _, err := mpi.Waitany(rs)
		return err
	case "many": // six goroutines
		for range 6 {
			go mpi.Recv(world, make([]int, 1), next, 6)
		}
		time.Sleep(time.Hour)
	case "barrier":
		return world.Barrier()
	case "long": // passes long messages round, and ends
		return long(world, next)
	case "bcast":
		return mpi.Bcast(world, one, next)
	case "allreduce":
		return mpi.Allreduce(world, one, two, mpi.Sum)
	case "longallreduce":
		return mpi.Allreduce(world, make([]int, 1<<16), make([]int, 1<<16), mpi.Sum)
	case "spin":
		for {
			one[0]++
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "finalize":
	case "traffic": // point-to-point messages and collectives, endlessly
		for n := 0; ; n++ {
			if _, err := mpi.Sendrecv(world, make([]int, 1<<(n%16)), next, 1, make([]int, 1<<16), mpi.AnySource, 1); err != nil {
				return err
			}
			if err := mpi.Allreduce(world, one, two, mpi.Sum); err != nil {
				return err
			}
			if n%5 == 0 {
				if err := world.Barrier(); err != nil {
					return err
				}
			}
		}
	case "offers":
		return offers(world, next)
	default:
		if strings.HasPrefix(what, "call:") || what == "calls" {
			return pairs(world)
		}
		if path, found := strings.CutPrefix(what, "files:"); found {
			return files(world, path)
		}
		return fmt.Errorf("unknown task %q", what)
	}
	return nil
}

// offers makes short operations on memory that no other process maps, endlessly. On one host a
// target that polls carries them out, and otherwise the kernel copies. Each rank has elements of its
// own at the next rank.
func offers(world *mpi.Comm, next int) error {
	mem := make([]int64, 4)
	w, err := mpi.WinCreate(world, mem)
	if err != nil {
		return err
	}
	if err := w.LockAll(0); err != nil {
		return err
	}
	one, old, got := int64(1), int64(0), []int64{0}
	for n := int64(0); ; n++ {
		word := n + 1
		for _, err := range []error{
			w.Put([]int64{word}, next, 0), w.FetchAndOp(&one, &old, next, 1, mpi.Sum), w.Flush(next),
			w.Get(got, next, 0), w.CompareAndSwap(&word, &n, &mem[3], next, 2), w.Flush(next),
		} {
			if err != nil {
				return err
			}
		}
		if old != n || got[0] != word || mem[3] != n {
			return fmt.Errorf("round %d: fetched %d and %d, got %d", n, old, mem[3], got[0])
		}
	}
}

// long passes a long message to the next rank, by sending and by a put, and checks the ones that arrive.
func long(world *mpi.Comm, next int) error {
	const n = 1 << 18
	previous := (world.Rank() + world.Size() - 1) % world.Size()
	out, in, memory := make([]int, n), make([]int, n), make([]int, n)
	for i := range out {
		out[i] = world.Rank()*n + i
	}
	if _, err := mpi.Sendrecv(world, out, next, 1, in, previous, 1); err != nil {
		return err
	}
	w, err := mpi.WinCreate(world, memory)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Fence(0), w.Put(out, next, 0), w.Fence(0), w.Free()); err != nil {
		return err
	}
	for i := range n {
		if want := previous*n + i; in[i] != want || memory[i] != want {
			return fmt.Errorf("element %d is %d by a message and %d by a put, want %d", i, in[i], memory[i], want)
		}
	}
	return nil
}
