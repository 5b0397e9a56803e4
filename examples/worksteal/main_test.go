package main

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

var stress = flag.Float64("stress", 0.2, "seconds of TestStress on each fabric")

// TestStress is what make stress runs for long.
func TestStress(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
			if err := run(world, options{9, 8, 3 * n, *stress / 4}, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The numbers of solutions are those of the literature.
func TestQueensArePlaced(t *testing.T) {
	for n, want := range []int{1: 1, 2: 0, 3: 0, 4: 2, 5: 10, 6: 4, 7: 40, 8: 92, 9: 352} {
		if n == 0 {
			continue
		}
		var serial tally
		board{}.search(n, 0, nil, &serial)
		if serial.solutions != want {
			t.Errorf("%d queens: %d ways, want %d", n, serial.solutions, want)
		}
		for ranks := 1; ranks <= 5 && n < 8; ranks++ {
			mpitest.Run(t, ranks, func(t testing.TB, world *mpi.Comm) {
				for _, o := range []options{{n, 0, 1, 0}, {n, 3, 1, 0}, {n, n + 1, 100, 0}} {
					var out bytes.Buffer
					err := run(world, o, &out)
					line := fmt.Sprintf("%d queens can be placed in %d ways; ", n, want)
					if err != nil || strings.HasPrefix(out.String(), line) != (world.Rank() == 0) {
						t.Errorf("%+v: rank %d: %v, %q", o, world.Rank(), err, &out)
					}
				}
			})
		}
	}
}

func TestTaskIsTheBoard(t *testing.T) {
	b := board{row: 15, columns: 0x7fff, left: 0xfffe, right: 0x1234}
	if got := boardOf(b.task()); got != b {
		t.Errorf("%+v comes back as %+v", b, got)
	}
}

// Rank 0 pushes and pops, all others steal: each task is somebody's, once, and a thief gets
// those that he gets in the order in which they were pushed. The deque is small, so that
// the last task is often in question.
func TestEachTaskIsTakenOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		const tasks = 2000
		d, err := newDeque(world, 3)
		if err != nil {
			t.Fatal(err)
		}
		over := mpi.Irecv(world, []byte{}, 0, 0)
		var mine []uint64
		for next := uint64(1); world.Rank() == 0 && next <= tasks; {
			pushed, err := d.push(next)
			if err != nil {
				t.Fatal(err)
			}
			if pushed {
				next++
			}
			if next%3 == 0 || !pushed {
				task, ok, err := d.pop()
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					mine = append(mine, task)
				}
			}
		}
		if world.Rank() == 0 {
			for {
				task, ok, err := d.pop()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break // nobody else pushes
				}
				mine = append(mine, task)
			}
			for r := range world.Size() {
				if err := mpi.Send(world, []byte{}, r, 0); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := over.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		for done := world.Rank() == 0; !done; {
			_, done, err = over.Test()
			if err != nil {
				t.Fatal(err)
			}
			task, ok, err := d.steal(0)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				mine = append(mine, task)
			}
		}
		if world.Rank() > 0 && !slices.IsSorted(mine) {
			t.Errorf("rank %d has stolen in another order than tasks were pushed: %d", world.Rank(), mine)
		}
		taken := make([]int, tasks+1)
		for _, task := range mine {
			taken[task]++
		}
		if err := mpi.Allreduce(world, taken, taken, mpi.Sum); err != nil {
			t.Fatal(err)
		}
		for task, times := range taken[1:] {
			if times != 1 {
				t.Errorf("task %d was taken %d times", task+1, times)
			}
		}
		if err := d.free(); err != nil {
			t.Error(err)
		}
	})
}

func TestBadOptionsAreRefusedOnce(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		for _, o := range []options{{0, 1, 1, 0}, {17, 1, 1, 0}, {8, -1, 1, 0}, {8, 1, 0, 0}, {8, 1, 1, -1}} {
			if err := run(world, o, &bytes.Buffer{}); (err != nil) != (world.Rank() == 0) {
				t.Errorf("%+v: rank %d: %v", o, world.Rank(), err)
			}
		}
	})
}
