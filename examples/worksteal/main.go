package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

type options struct {
	queens, deep, slots int
	seconds             float64
}

func main() {
	var o options
	flag.IntVar(&o.queens, "queens", 12, "place `N` queens")
	flag.IntVar(&o.deep, "deep", 6, "let boards of fewer than `N` queens be tasks, search others at once")
	flag.IntVar(&o.slots, "slots", 256, "have room for `N` tasks to steal on each rank")
	flag.Float64Var(&o.seconds, "seconds", 0, "search again and again for `N` seconds")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, o, os.Stdout) })
}

func (o options) check() error {
	switch {
	case o.queens < 1 || o.queens > queensMax:
		return fmt.Errorf("worksteal: -queens is %d, must be from 1 to %d", o.queens, queensMax)
	case o.deep < 0 || o.slots < 1 || !(o.seconds >= 0):
		return fmt.Errorf("worksteal: -deep is %d, -slots is %d and -seconds is %v: want no negative ones, and a slot", o.deep, o.slots, o.seconds)
	}
	return nil
}

// run is the program on one rank.
func run(world *mpi.Comm, o options, out io.Writer) error {
	if err := o.check(); err != nil {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return err
	}
	w, err := newWorker(world, o.slots)
	if err != nil {
		return err
	}
	serial := tally{}
	board{}.search(o.queens, 0, nil, &serial)
	// No rank may search for tasks before there is one. After a search all ranks have found
	// that no task is left, and the next search begins after a barrier.
	searches, took := 0, 0.0
	for again := true; again; searches++ {
		if err := world.Barrier(); err != nil {
			return err
		}
		start := mpi.Wtime()
		if err := w.together(world, o, searches, serial); err != nil {
			return err
		}
		took += mpi.Wtime() - start
		more := []bool{took < o.seconds}
		if err := mpi.Bcast(world, more, 0); err != nil {
			return err
		}
		again = more[0]
	}
	stolen, err := mpi.AllreduceOne(world, w.stolen, mpi.Sum)
	if err != nil {
		return err
	}
	if err := w.free(); err != nil || world.Rank() != 0 {
		return err
	}
	_, err = fmt.Fprintf(out, "%d queens can be placed in %d ways; %d ranks looked at %d boards %d times, %.2f million/s, and stole %d tasks, all as on one rank\n",
		o.queens, serial.solutions, world.Size(), serial.boards, searches,
		float64(searches*serial.boards)/max(took, mpi.Wtick())/1e6, stolen)
	return err
}

// together is one search, which must find what the serial one has found.
func (w *worker) together(world *mpi.Comm, o options, number int, serial tally) error {
	first := number % w.size
	if w.me == first {
		w.credit = 1 // so that others do not find zero before the search has begun
		if _, err := w.owe(1); err != nil {
			return err
		}
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	deep := o.deep
	if number > 0 {
		deep = 1 + number%max(1, o.deep) // few tasks that take long, and many that do not
	}
	mine, err := w.search(o.queens, deep, w.me == first)
	if err != nil {
		return err
	}
	all := []int{mine.solutions, mine.boards}
	if err := mpi.Allreduce(world, all, all, mpi.Sum); err != nil {
		return err
	}
	if got := (tally{all[0], all[1]}); got != serial {
		return fmt.Errorf("worksteal: search %d found %d ways, and looked at %d boards, want %d and %d",
			number, got.solutions, got.boards, serial.solutions, serial.boards)
	}
	return nil
}
