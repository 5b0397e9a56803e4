package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
	"github.com/halo-mpi/halo/mpi/pool"
)

// numbersTo are 0 to n-1, and their squares.
func numbersTo(n int) (args, squares []int) {
	for i := range n {
		args, squares = append(args, i), append(squares, i*i)
	}
	return args, squares
}

// Map returns the results in the order of the arguments, with any number of workers, also with none: then
// rank 0 does the tasks.
func TestMapKeepsTheOrder(t *testing.T) {
	args, want := numbersTo(50)
	for _, n := range []int{1, 2, 5} {
		over(t, n, func(t testing.TB, p *pool.Pool) {
			for _, args := range [][]int{nil, args[:1], args} {
				got, err := pool.Map(bg, p, square, args)
				if err != nil || !slices.Equal(got, want[:len(args)]) {
					t.Errorf("squares of %v: %v, %v", args, got, err)
				}
			}
		})
	}
}

// MapSeq yields in the order of the arguments, and an error at the place of its argument.
func TestMapSeqYieldsErrorsInTheirPlace(t *testing.T) {
	over(t, 3, func(t testing.TB, p *pool.Pool) {
		i := 0
		for r, err := range pool.MapSeq(bg, p, odd, slices.Values([]int{0, 1, 2, 3, 4, 5, 6})) {
			if bad := i == 3 || i == 5; (err != nil) != bad || !bad && r != i {
				t.Errorf("result %d is %d, %v", i, r, err)
			}
			i++
		}
		if i != 7 {
			t.Errorf("%d results of 7", i)
		}
	})
}

// MapUnordered yields what is done, although an earlier task is not.
func TestMapUnorderedYieldsAsTasksEnd(t *testing.T) {
	over(t, 3, func(t testing.TB, p *pool.Pool) {
		m, late := newMeeting()
		early, number := newMeeting()
		close(early.open)
		args := []int{late, number, number, number}
		var order []int
		for r := range pool.MapUnordered(bg, p, meet, slices.Values(args)) {
			if r.Err != nil || r.Value != args[r.Index] {
				t.Errorf("result %+v", r)
			}
			order = append(order, r.Index)
			if len(order) == 3 {
				close(m.open)
			}
		}
		if len(order) != 4 || order[3] != 0 {
			t.Errorf("results in the order %v, want 0 last of 4", order)
		}
	})
}

// Not more than twice as many arguments as run at once are read and not yielded, in order and without.
func TestArgumentsAreNotReadFarAhead(t *testing.T) {
	const workers, inFlight = 2, 3
	over(t, 1+workers, func(t testing.TB, p *pool.Pool) {
		read, yielded := 0, 0
		endless := func(yield func(int) bool) {
			for ; yield(read); read++ {
				if ahead := read - yielded; ahead > 2*workers*inFlight {
					t.Errorf("%d arguments are read ahead", ahead)
					return
				}
			}
		}
		for r, err := range pool.MapSeq(bg, p, square, endless) {
			if err != nil || r != yielded*yielded {
				t.Errorf("result %d is %d, %v", yielded, r, err)
			}
			yielded++
			if yielded == 30 {
				break
			}
		}
		read, yielded = 0, 0
		for r := range pool.MapUnordered(bg, p, square, endless) {
			if r.Err != nil || r.Value != r.Index*r.Index {
				t.Errorf("result %+v", r)
			}
			yielded++
			if yielded == 30 {
				break
			}
		}
	}, pool.InFlight(inFlight))
}

// A worker has one task at once, or as many as InFlight says.
func TestInFlight(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		over(t, 2, func(t testing.TB, p *pool.Pool) {
			m, number := newMeeting()
			var all []*pool.Future[int]
			for range 2 * inFlight {
				all = append(all, pool.Submit(bg, p, meet, number))
			}
			for range inFlight { // all of them meet
				<-m.begun
			}
			if len(m.begun) > 0 {
				t.Errorf("more than %d tasks run at once", inFlight)
			}
			close(m.open)
			for _, f := range all {
				if _, err := f.Wait(); err != nil {
					t.Error(err)
				}
			}
		}, pool.InFlight(inFlight))
	}
}

// Arguments and results have any size.
func TestLargeArguments(t *testing.T) {
	large := make([]byte, 3<<20)
	for i := range large {
		large[i] = byte(i * i >> 8)
	}
	want := slices.Clone(large)
	slices.Reverse(want)
	over(t, 3, func(t testing.TB, p *pool.Pool) {
		got, err := pool.Map(bg, p, reverse, [][]byte{large, {1, 2}, nil, large})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[0], want) || !bytes.Equal(got[1], []byte{2, 1}) || len(got[2]) != 0 || !bytes.Equal(got[3], want) {
			t.Error("large results are wrong")
		}
	})
}

// Structs travel by gob, values without size as nothing, and others by a codec of the function.
func TestCodecs(t *testing.T) {
	over(t, 2, func(t testing.TB, p *pool.Pool) {
		got, err := pool.Submit(bg, p, sum, pair{"all", []float64{1, 2, 3.5}}).Wait()
		if err != nil || got.Name != "all" || !slices.Equal(got.Values, []float64{6.5}) {
			t.Errorf("sum is %v, %v", got, err)
		}
		if _, err := pool.Submit(bg, p, nothing, struct{}{}).Wait(); err != nil {
			t.Error(err)
		}
		text, err := pool.Submit(bg, p, viaJSON, map[string]any{"number": 7}).Wait()
		if err != nil || text != "float64 7" {
			t.Errorf("by JSON the number is %q, %v", text, err)
		}
		if _, err := pool.Submit(bg, p, unsendable, func() {}).Wait(); err == nil || !strings.Contains(err.Error(), "pool: unsendable: cannot encode the argument, a func(): gob") {
			t.Errorf("argument that is a function: %v", err)
		}
		if _, err := pool.Submit(bg, p, wrongKind, 1).Wait(); err == nil || !strings.Contains(err.Error(), "pool: wrong kind on worker 1: cannot encode the result, a chan int: gob") {
			t.Errorf("result that is a channel: %v", err)
		}
	})
}

// A task gets a copy of its argument as it was when Submit was called.
func TestArgumentsAreCopied(t *testing.T) {
	over(t, 1, func(t testing.TB, p *pool.Pool) {
		mine := []byte{1, 2, 3}
		f := pool.Submit(bg, p, reverse, mine)
		mine[0] = 9
		if got, err := f.Wait(); err != nil || !slices.Equal(got, []byte{3, 2, 1}) || mine[1] != 2 {
			t.Errorf("got %v, %v, and the argument is %v", got, err, mine)
		}
	})
}

// When run returns without an error, all tasks that it has started run to their end.
func TestOverWaitsForTasks(t *testing.T) {
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		var all []*pool.Future[int]
		if err := pool.Over(world, func(p *pool.Pool) error {
			for i := range 20 {
				all = append(all, pool.Submit(bg, p, square, i))
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		for i, f := range all {
			select {
			case <-f.Done():
			default:
				t.Errorf("task %d has not ended", i)
			}
			if r, err := f.Wait(); err != nil || r != i*i {
				t.Errorf("result %d is %d, %v", i, r, err)
			}
		}
	})
}

// A pool refuses tasks after run has returned.
func TestPoolsAreClosed(t *testing.T) {
	var kept *pool.Pool
	if err := pool.Local(1, func(p *pool.Pool) error { kept = p; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Submit(bg, kept, square, 1).Wait(); err == nil || err.Error() != "pool: square: the pool is closed: the function that has got it has returned" {
		t.Errorf("task of a pool that is closed: %v", err)
	}
}

// Several pools exist on one communicator one after the other, and on duplicates at the same time.
func TestSeveralPools(t *testing.T) {
	args, want := numbersTo(20)
	mpitest.Run(t, 3, func(t testing.TB, world *mpi.Comm) {
		use := func(c *mpi.Comm) {
			err := pool.Over(c, func(p *pool.Pool) error {
				got, err := pool.Map(bg, p, square, args)
				if !slices.Equal(got, want) {
					t.Errorf("squares are %v", got)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		use(world)
		use(world)
		other, err := world.Dup()
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() { use(world) })
		both.Go(func() { use(other) })
		both.Wait()
		if err := other.Free(); err != nil {
			t.Error(err)
		}
	})
}

// Any number of goroutines use a pool at the same time.
func TestManyGoroutinesUseAPool(t *testing.T) {
	over(t, 4, func(t testing.TB, p *pool.Pool) {
		var total atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 10 {
					r, err := pool.Submit(bg, p, square, 10*i+j).Wait()
					if err != nil {
						t.Error(err)
					}
					total.Add(int64(r))
				}
			})
		}
		all.Wait()
		if want := int64(79 * 80 * 159 / 6); total.Load() != want {
			t.Errorf("the sum of squares is %d, want %d", total.Load(), want)
		}
	}, pool.InFlight(2))
}

// Local has workers without MPI.
func TestLocal(t *testing.T) {
	args, want := numbersTo(50)
	for _, n := range []int{1, 4} {
		err := pool.Local(n, func(p *pool.Pool) error {
			m, number := newMeeting()
			for range n {
				pool.Submit(bg, p, meet, number)
			}
			for range n { // at the same time
				<-m.begun
			}
			close(m.open)
			got, err := pool.Map(bg, p, square, args)
			if !slices.Equal(got, want) {
				t.Errorf("squares are %v", got)
			}
			return err
		})
		if err != nil {
			t.Errorf("%d workers: %v", n, err)
		}
	}
}

// What cannot be a pool is refused, with the numbers.
func TestWhatIsNoPool(t *testing.T) {
	none := func(*pool.Pool) error { t.Error("there is a pool"); return nil }
	for what, err := range map[string]error{
		"pool: Local: 0 workers, want at least 1 (MPI_ERR_ARG)":                       pool.Local(0, none),
		"pool: 0 tasks in flight and 0 retries, want at least 1 and 0 (MPI_ERR_ARG)":  pool.Local(1, none, pool.InFlight(0)),
		"pool: 1 tasks in flight and -1 retries, want at least 1 and 0 (MPI_ERR_ARG)": pool.Local(1, none, pool.Retry(-1)),
	} {
		if !errors.Is(err, mpi.ErrArg) || err.Error() != what {
			t.Errorf("got %v, want %s", err, what)
		}
	}
	if err := pool.Over(nil, none); !errors.Is(err, mpi.ErrComm) {
		t.Errorf("pool over nil: %v", err)
	}
	mpitest.Run(t, 2, func(t testing.TB, world *mpi.Comm) {
		both, err := mpi.IntercommCreate(world.Self(), 0, world, 1-world.Rank(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.Over(both, none); !errors.Is(err, mpi.ErrComm) || !strings.Contains(err.Error(), "is an intercommunicator") {
			t.Errorf("pool over an intercommunicator: %v", err)
		}
		if err := both.Free(); err != nil {
			t.Error(err)
		}
	})
}

// A name stands for one function.
func TestRegisterOnce(t *testing.T) {
	defer func() {
		if p := fmt.Sprint(recover()); p != `pool: Register: a function "square" is registered already` {
			t.Errorf("panic: %s", p)
		}
	}()
	pool.Register("square", func(context.Context, int) (int, error) { return 0, nil })
}
