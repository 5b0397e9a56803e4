package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// A fragile link is a worker of this process that dies when it gets a task with a certain number, counted
// over all workers.
type fragile struct {
	local
	deaths *deaths
	dead   bool // guarded by the mutex of deaths
	closed bool
}

// deaths are the tasks that kill their worker, and the workers.
type deaths struct {
	mu     sync.Mutex
	tasks  int
	at     map[int]bool
	links  []*fragile
	starts int   // how many workers can be started
	fails  error // what further ones return
}

func (d *deaths) spawn() (link, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.links) == d.starts {
		return nil, d.fails
	}
	f := &fragile{local: local{number: len(d.links)}, deaths: d}
	d.links = append(d.links, f)
	return f, nil
}

func (f *fragile) do(slot int, t *task) ([]byte, error) {
	d := f.deaths
	d.mu.Lock()
	d.tasks++
	f.dead = f.dead || d.at[d.tasks]
	dead := f.dead
	d.mu.Unlock()
	if dead {
		return nil, fmt.Errorf("killed by task %d: %w", t.number, mpi.ErrProcFailed)
	}
	return f.local.do(slot, t)
}

func (f *fragile) close(dead bool) {
	f.closed = true
	if dead != f.dead {
		panic(fmt.Sprintf("worker %d is closed as dead: %v", f.number, dead))
	}
	f.local.close(dead)
}

var double = Register("double", func(_ context.Context, x int) (int, error) { return 2 * x, nil })

// use runs the function with a pool of n fragile workers.
func (d *deaths) use(t *testing.T, n int, run func(p *Pool) error, with ...Option) error {
	t.Helper()
	p, err := newPool(with)
	if err != nil {
		t.Fatal(err)
	}
	links := make([]link, n)
	for i := range links {
		links[i], _ = d.spawn()
	}
	p.spawn, p.stop = d.spawn, func() {}
	err = p.serve(links, run)
	for _, f := range d.links {
		if !f.closed {
			t.Errorf("worker %d is not closed", f.number)
		}
	}
	return err
}

// A worker that dies is replaced, and its task runs again as often as Retry allows.
func TestWorkersAreReplaced(t *testing.T) {
	args := make([]int, 40)
	want := make([]int, 40)
	for i := range args {
		args[i], want[i] = i, 2*i
	}
	for _, inFlight := range []int{1, 3} {
		d := &deaths{at: map[int]bool{1: true, 2: true, 7: true, 20: true, 41: true}, starts: 1000}
		err := d.use(t, 2, func(p *Pool) error {
			got, err := Map(context.Background(), p, double, args)
			if !slices.Equal(got, want) {
				t.Errorf("results are %v", got)
			}
			return err
		}, InFlight(inFlight), Retry(5))
		if err != nil {
			t.Error(err)
		}
		if len(d.links) < 5 {
			t.Errorf("%d workers were started, want one more for each death", len(d.links))
		}
	}
}

// A task that kills each of its workers fails after as many tries as Retry allows, and the pool goes on.
func TestTasksThatKill(t *testing.T) {
	d := &deaths{at: map[int]bool{1: true, 2: true, 3: true}, starts: 1000}
	err := d.use(t, 1, func(p *Pool) error {
		_, err := Submit(context.Background(), p, double, 1).Wait()
		if e := (*Error)(nil); !errors.As(err, &e) || e.Worker != 2 || e.Text != "the worker has died: killed by task 1: MPI_ERR_PROC_FAILED" {
			t.Errorf("task that kills: %v", err)
		}
		if r, err := Submit(context.Background(), p, double, 4).Wait(); r != 8 || err != nil {
			t.Errorf("afterwards the double is %d, %v", r, err)
		}
		return nil
	}, Retry(2))
	if err != nil || len(d.links) != 4 {
		t.Errorf("%d workers, %v; want 4", len(d.links), err)
	}
}

// When no worker can be started, tasks fail with the reason.
func TestWorkersThatCannotBeReplaced(t *testing.T) {
	d := &deaths{at: map[int]bool{1: true}, starts: 1, fails: fmt.Errorf("no slots: %w", mpi.ErrSpawn)}
	d.use(t, 1, func(p *Pool) error {
		for range 3 {
			_, err := Submit(context.Background(), p, double, 1).Wait()
			if !errors.Is(err, mpi.ErrSpawn) || !strings.HasSuffix(err.Error(), "no worker is left: all have died, and none could be started: no slots: MPI_ERR_SPAWN") {
				t.Errorf("task of a pool that starts no worker: %v", err)
			}
		}
		return nil
	}, Retry(5))
}
