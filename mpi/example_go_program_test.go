package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The programs of docs/go.md: see TestPagesShowExamples.

func TestPageSumOfRanks(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		sum, err := mpi.AllreduceOne(world, world.Rank(), mpi.Sum)
		if err != nil || sum != 3 {
			t.Errorf("rank %d has %d, %v", world.Rank(), sum, err)
		}
	})
}

// A profile for each rank, whose number is in its name.
func Example_profiles() {
	dir, _ := os.MkdirTemp("", "profiles")
	defer os.RemoveAll(dir)
	mpi.Run(1, func(world *mpi.Comm) error {
		out, err := os.Create(filepath.Join(dir, fmt.Sprintf("cpu.%d.pprof", world.Rank())))
		if err != nil {
			return err
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		// ... the work ...
		return nil
	})
	names, _ := filepath.Glob(filepath.Join(dir, "*.pprof"))
	fmt.Println(len(names), filepath.Base(names[0]))
	// Output: 1 cpu.0.pprof
}

// A receive that waits until a deadline.
func Example_cancellation() {
	mpi.Run(1, func(world *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		r := mpi.Irecv(world, []int{0}, mpi.AnySource, 0)
		_, err := r.WaitContext(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			fmt.Println("nothing has come")
			r.Cancel() // the receive goes on otherwise
			_, err = r.Wait()
		}
		return err
	})
	// Output: nothing has come
}

// All ranks leave the loop after the same step, whichever of them has been asked to stop.
func Example_shutdown() {
	mpi.Run(3, func(world *mpi.Comm) error {
		ctx, stop := context.WithCancel(context.Background()) // or signal.NotifyContext
		defer stop()
		for step := 0; ; step++ {
			if world.Rank() == 1 && step == 4 {
				stop() // stands for a signal
			}
			leave, err := mpi.AllreduceOne(world, ctx.Err() != nil, mpi.Lor)
			if err != nil {
				return err
			}
			if leave {
				if world.Rank() == 0 {
					fmt.Println("all ranks leave after", step, "steps")
				}
				return nil
			}
			// ... one step of the work ...
		}
	})
	// Output: all ranks leave after 4 steps
}

// A table that exists once on each node.
func Example_table() {
	mpi.Run(3, func(world *mpi.Comm) error {
		node, err := world.SplitType(mpi.CommTypeShared, 0)
		if err != nil {
			return err
		}
		defer node.Free()
		n := 0
		if node.Rank() == 0 {
			n = 1000 // the others have no memory of their own
		}
		win, err := mpi.WinAllocateShared[float64](node, n)
		if err != nil {
			return err
		}
		defer win.Free()
		table, err := win.Shared(0)
		if err != nil {
			return err
		}
		if node.Rank() == 0 {
			for i := range table {
				table[i] = float64(i * i)
			}
		}
		if err := win.Fence(0); err != nil { // from here on all may read
			return err
		}
		if node.Rank() == 2 {
			fmt.Println(len(table), table[7])
		}
		return win.Fence(0)
	})
	// Output: 1000 49
}
