// Command pipeline sends batches of numbers through a pipeline of ranks, partition by partition:
// goroutines of each rank work on a partition as soon as it has arrived, and let it go as soon as
// they are done with it, while the rest of the batch is still on its way.
//
//	go run ./cmd/halo run -n 4 ./examples/pipeline [-batches N] [-partitions N] [-numbers N] [-workers N]
//
// Rank 0 makes the numbers, each further rank changes them, and the last one checks all of them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/halo-mpi/halo/mpi"
)

type options struct{ batches, partitions, numbers, workers int }

func main() {
	var o options
	flag.IntVar(&o.batches, "batches", 200, "send `N` batches")
	flag.IntVar(&o.partitions, "partitions", 32, "of `N` partitions")
	flag.IntVar(&o.numbers, "numbers", 512, "of `N` numbers each")
	flag.IntVar(&o.workers, "workers", 4, "have `N` goroutines in each rank")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, o, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, o options, out io.Writer) error {
	if o.batches < 0 || o.partitions < 1 || o.numbers < 0 || o.workers < 1 {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("pipeline: -batches is %d, -partitions is %d, -numbers is %d and -workers is %d: want no negative ones, a partition and a worker",
			o.batches, o.partitions, o.numbers, o.workers)
	}
	s, err := newStage(world, o)
	if err != nil {
		return err
	}
	start := time.Now()
	for batch := range o.batches {
		if err := s.pass(batch); err != nil {
			return fmt.Errorf("pipeline: batch %d: %w", batch, err)
		}
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	if err := s.free(); err != nil || world.Rank() > 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d batches of %d bytes through %d ranks in %.3f s, all verified\n", o.batches, 8*len(s.data), world.Size(), seconds)
	return err
}

// stage is one rank of the pipeline.
type stage struct {
	options
	rank, last int
	world      *mpi.Comm
	data       []uint64 // of the batch that is being worked on
	in, out    mpi.Request
}

func newStage(world *mpi.Comm, o options) (*stage, error) {
	s := &stage{options: o, rank: world.Rank(), last: world.Size() - 1, world: world}
	var err error
	// On one host memory of AllocMem receives partitions without a system call.
	s.data, err = mpi.AllocMem[uint64](world, o.partitions*o.numbers)
	if err != nil {
		return nil, err
	}
	// The first rank receives from no process, the last one sends to none.
	source, dest := s.rank-1, s.rank+1
	if s.rank == 0 {
		source = mpi.ProcNull
	}
	if s.rank == s.last {
		dest = mpi.ProcNull
	}
	s.in = mpi.PrecvInit(world, s.data, o.partitions, source, 0)
	s.out = mpi.PsendInit(world, s.data, o.partitions, dest, 0)
	return s, nil
}

// pass works on one batch. It starts to receive the next batch only when this one is sent, because
// both are in the same memory.
func (s *stage) pass(batch int) error {
	if err := s.in.Start(); err != nil {
		return err
	}
	if err := s.out.Start(); err != nil {
		return err
	}
	failures := make([]error, s.workers)
	var workers sync.WaitGroup
	for w := range s.workers {
		workers.Go(func() {
			for i := w; i < s.partitions && failures[w] == nil; i += s.workers {
				failures[w] = s.work(batch, i)
			}
		})
	}
	_, err := s.in.Wait()
	if err == nil {
		_, err = s.out.Wait()
	}
	workers.Wait()
	return errors.Join(append(failures, err)...)
}

// work works on a partition.
func (s *stage) work(batch, i int) error {
	for s.rank > 0 {
		there, err := s.in.Parrived(i)
		if err != nil {
			return err
		}
		if there {
			break
		}
		runtime.Gosched()
	}
	part := s.data[i*s.numbers : (i+1)*s.numbers]
	for k := range part {
		if s.rank == 0 {
			part[k] = first(batch, i*s.numbers+k)
		} else {
			part[k] = 3*part[k] + uint64(s.rank)
		}
	}
	if s.rank == s.last {
		if err := s.verify(batch, i); err != nil {
			return err
		}
	}
	return s.out.Pready(i)
}

// first is number k of a batch as the first rank makes it.
func first(batch, k int) uint64 { return uint64(batch)<<32 | uint64(k) }

// verify checks a partition behind the last rank.
func (s *stage) verify(batch, i int) error {
	for k := i * s.numbers; k < (i+1)*s.numbers; k++ {
		want := first(batch, k)
		for rank := 1; rank <= s.last; rank++ {
			want = 3*want + uint64(rank)
		}
		if s.data[k] != want {
			return fmt.Errorf("number %d is %d, want %d", k, s.data[k], want)
		}
	}
	return nil
}

func (s *stage) free() error {
	return errors.Join(s.in.Free(), s.out.Free(), mpi.FreeMem(s.world, s.data))
}
