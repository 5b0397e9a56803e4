package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/halo-mpi/halo/mpi"
)

type options struct {
	workers            int
	tolerance, seconds float64
}

func main() {
	var o options
	flag.IntVar(&o.workers, "workers", 3, "let `N` goroutines of each rank work")
	flag.Float64Var(&o.tolerance, "tolerance", 1e-7, "be off by `X` at most where a part ends")
	flag.Float64Var(&o.seconds, "seconds", 0, "go on for `N` seconds")
	flag.Parse()

	mpi.Main(func(world *mpi.Comm) error { return run(world, o, os.Stdout) })
}

// run is the program on one rank.
func run(world *mpi.Comm, o options, out io.Writer) error {
	if o.workers < 1 || !(o.tolerance > 0) || !(o.seconds >= 0) {
		if world.Rank() > 0 {
			return nil // rank 0 reports it, and Main ends the job
		}
		return fmt.Errorf("taskqueue: -workers is %d, -tolerance is %v and -seconds is %v: want a worker, and no negative ones", o.workers, o.tolerance, o.seconds)
	}
	want := serial(whole, o.tolerance)
	var seconds [2]float64
	tasks, rounds := 0, 0
	for start := mpi.Wtime(); ; {
		for way, ordered := range []bool{false, true} {
			done, took, err := integrate(world, o, ordered, want)
			if err != nil {
				return err
			}
			seconds[way] += took
			tasks += done
		}
		rounds++
		more := []bool{mpi.Wtime()-start < o.seconds}
		if err := mpi.Bcast(world, more, 0); err != nil {
			return err
		}
		if !more[0] {
			break
		}
	}
	if world.Rank() != 0 {
		return nil
	}
	rate := func(way int) float64 { return float64(tasks) / 2 / max(seconds[way], mpi.Wtick()) / 1e6 }
	_, err := fmt.Fprintf(out, "the area is %.9f, off by %.1g; %d ranks of %d goroutines did %d tasks: %.3f million/s with flushes, %.3f by ordered views; all as on one rank\n",
		float64(want.area)*unit, math.Abs(float64(want.area)*unit-exact()), world.Size(), o.workers, tasks, rate(0), rate(1))
	return err
}

// integrate does it once, and returns the number of tasks and how long it took.
func integrate(world *mpi.Comm, o options, ordered bool, want result) (tasks int, seconds float64, err error) {
	q, err := newQueue(world)
	if err != nil {
		return 0, 0, err
	}
	users := make([]*user, o.workers)
	for i := range users {
		users[i], err = q.user(ordered)
		if err != nil {
			return 0, 0, err
		}
	}
	if world.Rank() == 0 {
		if _, err := users[0].push(whole); err != nil {
			return 0, 0, err
		}
		if err := users[0].view.Flush(0); err != nil {
			return 0, 0, err
		}
	}
	if err := world.Barrier(); err != nil {
		return 0, 0, err
	}
	start := mpi.Wtime()
	type end struct {
		tasks int
		err   error
	}
	ends := make(chan end, len(users))
	for _, u := range users {
		go func() {
			n, err := u.work(o.tolerance)
			ends <- end{n, err}
		}()
	}
	for range users {
		e := <-ends
		tasks += e.tasks
		err = errors.Join(err, e.err)
	}
	if err != nil {
		return tasks, 0, err
	}
	tasks, err = mpi.AllreduceOne(world, tasks, mpi.Sum)
	if err != nil {
		return tasks, 0, err
	}
	seconds = mpi.Wtime() - start
	if err := q.check(world, users[0], want); err != nil {
		return tasks, seconds, err
	}
	for _, u := range users {
		if u.view != q.win {
			if err := u.view.Free(); err != nil {
				return tasks, seconds, err
			}
		}
	}
	return tasks, seconds, q.free()
}

// user is one with a view of its own, or with that of all.
func (q *queue) user(ordered bool) (*user, error) {
	u := &user{view: q.win, ordered: ordered}
	if !ordered {
		return u, nil
	}
	var err error
	u.view, err = q.win.Dup(mpi.WinOrder(true), mpi.ScopeThread)
	return u, err
}

// check compares the results after all workers have ended.
func (q *queue) check(world *mpi.Comm, u *user, want result) error {
	if err := q.win.FlushAll(); err != nil {
		return err
	}
	if err := world.Barrier(); err != nil {
		return err
	}
	var got result
	var err error
	got.area, err = u.fetch(areaWord)
	if err != nil {
		return err
	}
	got.parts, err = u.fetch(partsWord)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("taskqueue: ordered views %v: the area is %d units in %d parts, want %d in %d", u.ordered, got.area, got.parts, want.area, want.parts)
	}
	return world.Barrier()
}
