package pool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/internal/leak"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
	"github.com/halo-mpi/halo/mpi/pool"
)

// lone runs what this process is to do instead of tests, and reports whether there is something.
var lone = func() bool { return false }

func TestMain(m *testing.M) {
	if lone() { // a program of the tests with processes
		return
	}
	leak.Main(m)
}

// over runs the function on rank 0 of n with a pool of the others, over every fabric.
func over(t *testing.T, n int, run func(t testing.TB, p *pool.Pool), with ...pool.Option) {
	t.Helper()
	mpitest.Run(t, n, func(t testing.TB, world *mpi.Comm) {
		err := pool.Over(world, func(p *pool.Pool) error {
			run(t, p)
			return nil
		}, with...)
		if err != nil {
			t.Errorf("rank %d: %v", world.Rank(), err)
		}
	})
}

// A pair is an argument with fields.
type pair struct {
	Name   string
	Values []float64
}

// A meeting is what tasks and tests of one process share: a task reports that it has begun, and waits.
type meeting struct {
	begun chan int      // has room for all tasks
	open  chan struct{} // when closed, the tasks go on
}

var (
	meetings sync.Map // of *meeting, by number
	numbers  atomic.Int64
)

// newMeeting makes a meeting, and the argument by which tasks find it.
func newMeeting() (*meeting, int) {
	m, number := &meeting{make(chan int, 100), make(chan struct{})}, int(numbers.Add(1))
	meetings.Store(number, m)
	return m, number
}

func findMeeting(number int) *meeting {
	m, _ := meetings.Load(number)
	return m.(*meeting)
}

var errOdd = errors.New("3 is odd")

var (
	square = pool.Register("square", func(_ context.Context, x int) (int, error) { return x * x, nil })
	sum    = pool.Register("sum", func(_ context.Context, p pair) (pair, error) {
		total := 0.0
		for _, v := range p.Values {
			total += v
		}
		return pair{p.Name, []float64{total}}, nil
	})
	reverse = pool.Register("reverse", func(_ context.Context, b []byte) ([]byte, error) {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		return b, nil
	})
	nothing = pool.Register("nothing", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	viaJSON = pool.Register("json", func(_ context.Context, v map[string]any) (string, error) {
		return fmt.Sprintf("%T %v", v["number"], v["number"]), nil // gob would keep an int
	}, pool.Codec{Marshal: json.Marshal, Unmarshal: json.Unmarshal})
	odd = pool.Register("odd", func(_ context.Context, x int) (int, error) {
		switch {
		case x == 3:
			return 0, errOdd
		case x == 5:
			return 0, fmt.Errorf("five: %w", mpi.ErrTruncate)
		case x == 7:
			return 0, mpi.Send[byte](nil, nil, 0, 0)
		}
		return x, nil
	})
	explode = pool.Register("explode", func(_ context.Context, x int) (int, error) { return []int{1, 2, 3}[x], nil })
	blast   = pool.Register("blast", func(_ context.Context, text string) (int, error) { panic(text) })
	goexit  = pool.Register("goexit", func(context.Context, int) (int, error) { runtime.Goexit(); return 0, nil })
	// meet begins, and goes on when the meeting is open.
	meet = pool.Register("meet", func(_ context.Context, number int) (int, error) {
		m := findMeeting(number)
		m.begun <- number
		<-m.open
		return number, nil
	})
	// wait begins, and ends when its context does; then it opens the meeting.
	wait = pool.Register("wait", func(ctx context.Context, number int) (int, error) {
		m := findMeeting(number)
		m.begun <- number
		<-ctx.Done()
		close(m.open)
		return 0, ctx.Err()
	})
	unsendable = pool.Register("unsendable", func(_ context.Context, f func()) (func(), error) { return f, nil })
	wrongKind  = pool.Register("wrong kind", func(context.Context, int) (chan int, error) { return make(chan int), nil })
)

// bg is the context of tasks that nobody cancels.
var bg = context.Background()
