package pool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
	"github.com/halo-mpi/halo/mpi/pool"
)

// errDies is the error with which a worker dies.
var errDies = errors.New("it is Monday")

// dying runs the function on rank 0 of n with a pool of the others, over every fabric. The last rank dies when
// the function calls die.
func dying(t *testing.T, n int, run func(t testing.TB, p *pool.Pool, die func()), with ...pool.Option) {
	t.Helper()
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fmt.Sprintf("%s-%d", fabric, n), func(t *testing.T) {
			death := make(chan struct{})
			served := make(chan error, 1)
			err := mpitest.RunOver(fabric, n, func(world *mpi.Comm) error {
				serve := func() error {
					return pool.Over(world, func(p *pool.Pool) error {
						run(t, p, func() { close(death) })
						return nil
					}, with...)
				}
				if world.Rank() < n-1 {
					if err := serve(); err != nil && !errors.Is(err, mpi.ErrProcFailed) {
						t.Errorf("rank %d: %v", world.Rank(), err)
					}
					return nil
				}
				go func() { served <- serve() }()
				<-death
				return errDies
			})
			if !errors.Is(err, errDies) {
				t.Errorf("the run ends with %v", err)
			}
			<-served
		})
	}
}

// occupy gives every worker a task, and returns when all of them run.
func occupy(p *pool.Pool, workers int) (*meeting, []*pool.Future[int]) {
	m, number := newMeeting()
	var all []*pool.Future[int]
	for range workers {
		all = append(all, pool.Submit(bg, p, meet, number))
	}
	for range workers {
		<-m.begun
	}
	return m, all
}

// The task of a worker that dies fails, with the worker's rank. The other workers do all further tasks.
func TestTasksOfTheDead(t *testing.T) {
	const workers = 3
	args, want := numbersTo(20)
	dying(t, 1+workers, func(t testing.TB, p *pool.Pool, die func()) {
		m, all := occupy(p, workers)
		die()
		var lost *pool.Future[int]
		select {
		case <-all[0].Done():
			lost = all[0]
		case <-all[1].Done():
			lost = all[1]
		case <-all[2].Done():
			lost = all[2]
		}
		_, err := lost.Wait()
		e := failed(t, err, "meet", workers)
		if !errors.Is(err, mpi.ErrProcFailed) || !strings.HasPrefix(e.Error(), "pool: meet on worker 3: the worker has died: mpi: RecvSlice on pool from 3 ") {
			t.Errorf("task of a worker that has died: %v", err)
		}
		close(m.open)
		for _, f := range all {
			if _, err := f.Wait(); f != lost && err != nil {
				t.Error(err)
			}
		}
		if got, err := pool.Map(bg, p, square, args); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("afterwards the squares are %v, %v", got, err)
		}
	})
}

// With Retry another worker runs the task of one that dies.
func TestRetryRunsTasksOfTheDead(t *testing.T) {
	const workers = 2
	dying(t, 1+workers, func(t testing.TB, p *pool.Pool, die func()) {
		m, all := occupy(p, workers)
		die()
		close(m.open)
		for _, f := range all {
			if _, err := f.Wait(); err != nil {
				t.Error(err)
			}
		}
		if begun := len(m.begun); begun > 1 {
			t.Errorf("%d tasks have run again, want 1 at most", begun)
		}
	}, pool.Retry(1))
}

// When no worker is left, tasks fail that wait, and new ones.
func TestNoWorkerIsLeft(t *testing.T) {
	dying(t, 2, func(t testing.TB, p *pool.Pool, die func()) {
		m, all := occupy(p, 2)
		for range 3 {
			all = append(all, pool.Submit(bg, p, square, 2))
		}
		die()
		for _, f := range all {
			if _, err := f.Wait(); !errors.Is(err, mpi.ErrProcFailed) {
				t.Errorf("task that no worker can do: %v", err)
			}
		}
		_, err := pool.Submit(bg, p, square, 2).Wait()
		if !errors.Is(err, mpi.ErrProcFailed) || err.Error() != "pool: square: no worker is left: all have died (MPI_ERR_PROC_FAILED)" {
			t.Errorf("task of a pool without workers: %v", err)
		}
		close(m.open)
	}, pool.Retry(5), pool.InFlight(2))
}

// Workers whose pool dies end, with an error that says so, and the contexts of their tasks with them.
func TestWorkersOutliveNoPool(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric+"-3", func(t *testing.T) {
			a, first := newMeeting()
			b, second := newMeeting()
			err := mpitest.RunOver(fabric, 3, func(world *mpi.Comm) error {
				err := pool.Over(world, func(p *pool.Pool) error {
					pool.Submit(bg, p, wait, first)
					pool.Submit(bg, p, wait, second)
					<-a.begun
					<-b.begun
					panic(errDies)
				})
				if want := fmt.Sprintf("pool: worker %d of pool has lost rank 0, which has the pool: ", world.Rank()); !errors.Is(err, mpi.ErrProcFailed) || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("rank %d: %v, want %q", world.Rank(), err, want)
				}
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), "it is Monday") {
				t.Errorf("the run ends with %v", err)
			}
			<-a.open
			<-b.open
		})
	}
}
