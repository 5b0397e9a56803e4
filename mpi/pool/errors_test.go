package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
	"github.com/halo-mpi/halo/mpi/pool"
)

// failed is the error of a task of a function with the given name, on the given worker.
func failed(t testing.TB, err error, name string, worker int) *pool.Error {
	t.Helper()
	e, ok := errors.AsType[*pool.Error](err)
	if !ok || e.Func != name || e.Worker != worker {
		t.Fatalf("%v is no error of %s on worker %d", err, name, worker)
	}
	return e
}

// The error of a function comes back as its text, with function and worker, and with its class if it has one.
func TestErrorsOfFunctions(t *testing.T) {
	for n := 1; n <= 2; n++ {
		worker := n - 1
		over(t, n, func(t testing.TB, p *pool.Pool) {
			_, err := pool.Map(bg, p, odd, []int{0, 1, 2, 3, 4})
			failed(t, err, "odd", worker)
			if want := fmt.Sprintf("pool: odd on worker %d: 3 is odd", worker); err.Error() != want || errors.Is(err, mpi.ErrOther) {
				t.Errorf("error %q, want %q", err, want)
			}
			_, err = pool.Submit(bg, p, odd, 5).Wait()
			if failed(t, err, "odd", worker).Text != "five: MPI_ERR_TRUNCATE" || !errors.Is(err, mpi.ErrTruncate) {
				t.Errorf("error with a class: %v", err)
			}
			_, err = pool.Submit(bg, p, odd, 7).Wait()
			if !strings.Contains(failed(t, err, "odd", worker).Text, "communicator is nil (MPI_ERR_COMM)") || !errors.Is(err, mpi.ErrComm) {
				t.Errorf("error of a call of package mpi: %v", err)
			}
		})
	}
}

// A panic of a function is an error with its stack, and the worker goes on.
func TestPanicsOfFunctions(t *testing.T) {
	for n := 1; n <= 2; n++ {
		worker := n - 1
		over(t, n, func(t testing.TB, p *pool.Pool) {
			_, err := pool.Submit(bg, p, explode, 3).Wait()
			e := failed(t, err, "explode", worker)
			if e.Text != "runtime error: index out of range [3] with length 3" || !strings.Contains(e.Stack, "main_test.go:") {
				t.Errorf("panic of the runtime: %v", err)
			}
			_, err = pool.Submit(bg, p, blast, "boom").Wait()
			e = failed(t, err, "blast", worker)
			if want := fmt.Sprintf("pool: blast on worker %d: panic: boom\n\ngoroutine ", worker); !strings.HasPrefix(err.Error(), want) || !strings.Contains(e.Stack, "main_test.go:") {
				t.Errorf("panic: %v", err)
			}
			_, err = pool.Submit(bg, p, goexit, 0).Wait()
			if failed(t, err, "goexit", worker).Text != "the function has ended its goroutine by runtime.Goexit" {
				t.Errorf("runtime.Goexit: %v", err)
			}
			if r, err := pool.Submit(bg, p, square, 4).Wait(); r != 16 || err != nil {
				t.Errorf("after panics the square is %d, %v", r, err)
			}
		})
	}
}

// The end of a context ends the context of the function, and the task with the error of the context.
func TestContextsEndTasks(t *testing.T) {
	for n := 1; n <= 2; n++ {
		over(t, n, func(t testing.TB, p *pool.Pool) {
			ctx, cancel := context.WithCancel(bg)
			defer cancel()
			m, number := newMeeting()
			runs, waits := pool.Submit(ctx, p, wait, number), pool.Submit(ctx, p, square, 3)
			<-m.begun
			cancel()
			for _, f := range []*pool.Future[int]{runs, waits} {
				if _, err := f.Wait(); !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), ": context canceled") {
					t.Errorf("task whose context has ended: %v", err)
				}
			}
			<-m.open // the function has noticed
			if r, err := pool.Submit(bg, p, square, 4).Wait(); r != 16 || err != nil {
				t.Errorf("afterwards the square is %d, %v", r, err)
			}
		})
	}
}

// A deadline is told from a cancellation.
func TestDeadlinesEndTasks(t *testing.T) {
	over(t, 2, func(t testing.TB, p *pool.Pool) {
		ctx, cancel := context.WithTimeout(bg, 1)
		defer cancel()
		m, number := newMeeting()
		f := pool.Submit(ctx, p, meet, number)
		close(m.open)
		<-ctx.Done()
		if _, err := pool.Submit(ctx, p, square, 3).Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("task after the deadline: %v", err)
		}
		<-f.Done()
	})
}

// The end of a context ends a loop, with its error as the last one.
func TestContextsEndLoops(t *testing.T) {
	endless := func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	}
	over(t, 3, func(t testing.TB, p *pool.Pool) {
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		count := 0
		var last error
		for r, err := range pool.MapSeq(ctx, p, square, endless) {
			last = err
			if err == nil && r != count*count {
				t.Errorf("result %d is %d", count, r)
			}
			count++
			if count == 5 {
				cancel()
			}
		}
		if count != 6 || !errors.Is(last, context.Canceled) {
			t.Errorf("%d results, the last with error %v; want 5, and the end of the context", count, last)
		}
		count = 0
		var end pool.Result[int]
		for end = range pool.MapUnordered(ctx, p, square, endless) {
			count++
		}
		if end.Index != -1 || !errors.Is(end.Err, context.Canceled) {
			t.Errorf("the last of %d results is %+v, want the end of the context", count, end)
		}
		if _, err := pool.Map(ctx, p, square, []int{1}); !errors.Is(err, context.Canceled) {
			t.Errorf("Map: %v", err)
		}
	})
}

// Leaving a loop ends the contexts of its tasks.
func TestLeavingALoopEndsItsTasks(t *testing.T) {
	over(t, 3, func(t testing.TB, p *pool.Pool) {
		m, number := newMeeting()
		first := true
		for _, err := range pool.MapSeq(bg, p, firstThenWait, slices.Values([]int{-1, number})) {
			if err != nil || !first {
				t.Error("a second result", err)
			}
			first = false
			<-m.begun
			break
		}
		<-m.open
	})
}

// firstThenWait is wait, but returns at once for a negative number.
var firstThenWait = pool.Register("first, then wait", func(ctx context.Context, number int) (int, error) {
	if number < 0 {
		return number, nil
	}
	m := findMeeting(number)
	m.begun <- number
	<-ctx.Done()
	close(m.open)
	return 0, ctx.Err()
})

// An error of run ends the contexts of tasks, keeps others from beginning, and is the error of Over.
func TestErrorOfRunEndsTasks(t *testing.T) {
	broken := errors.New("the milk is off")
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		var runs, waits *pool.Future[int]
		err := pool.Over(world, func(p *pool.Pool) error {
			m, number := newMeeting()
			runs, waits = pool.Submit(bg, p, wait, number), pool.Submit(bg, p, square, 3)
			<-m.begun
			return broken
		})
		if world.Rank() != 0 {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if err != broken {
			t.Errorf("Over returns %v", err)
		}
		for _, f := range []*pool.Future[int]{runs, waits} {
			if _, err := f.Wait(); !errors.Is(err, context.Canceled) {
				t.Errorf("task of a pool that has ended: %v", err)
			}
		}
	})
}
