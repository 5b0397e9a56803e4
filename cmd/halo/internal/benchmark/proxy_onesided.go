package benchmark

import (
	"errors"

	"github.com/halo-mpi/halo/mpi"
)

const (
	tasks       = 16000
	taskUnit    = 500 // steps of the shortest task; the longest has 16 times as many
	tasksResult = 34302850470728

	walkVertices = 65536
	walkDegree   = 8
	walks        = 64
	walkLength   = 2500
	walkWork     = 250 // steps of computation at a vertex
	walkResult   = 344295471632982
)

// iterated computes with x for n steps.
func iterated(x uint32, n int) uint32 {
	for range n {
		x = x*1664525 + 1013904223
	}
	return x
}

// taskQueue is a queue of uneven tasks: see bench/proxy_onesided.h. The number of the next one is in rank 0's memory.
type taskQueue struct {
	world *mpi.Comm
	win   mpi.Win[int64]
}

func newTasks(world *mpi.Comm) (*taskQueue, error) {
	n := 0
	if world.Rank() == 0 {
		n = 1
	}
	win, err := mpi.WinAllocate[int64](world, n)
	if err != nil {
		return nil, err
	}
	return &taskQueue{world, win}, win.LockAll(0)
}

func (q *taskQueue) close() error { return errors.Join(q.win.UnlockAll(), q.win.Free()) }

func (q *taskQueue) run() error {
	if q.world.Rank() == 0 {
		if err := q.win.Accumulate([]int64{0}, 0, 0, mpi.Replace); err != nil {
			return err
		}
		if err := q.win.Flush(0); err != nil {
			return err
		}
	}
	if err := q.world.Barrier(); err != nil {
		return err
	}
	sum, one, task := uint64(0), int64(1), int64(0)
	for {
		if err := q.win.FetchAndOp(&one, &task, 0, 0, mpi.Sum); err != nil {
			return err
		}
		if err := q.win.Flush(0); err != nil {
			return err
		}
		if task >= tasks {
			break
		}
		t := uint32(task)
		sum += uint64(iterated(t, taskUnit*int(1+mixed(t)%16)))
	}
	return expectTotal(q.world, sum, tasksResult)
}

// graphWalks are walks on a graph whose vertices are distributed: see bench/proxy_onesided.h.
type graphWalks struct {
	world    *mpi.Comm
	win      mpi.Win[int32]
	vertices int // of each rank
	list     []int32
}

func newWalks(world *mpi.Comm) (*graphWalks, error) {
	vertices := (walkVertices + world.Size() - 1) / world.Size()
	n := vertices * walkDegree
	win, err := mpi.WinAllocate[int32](world, n)
	if err != nil {
		return nil, err
	}
	if err := win.LockAll(0); err != nil {
		return nil, err
	}
	for i, memory := 0, win.Local(); i < n; i++ {
		memory[i] = int32(mixed(uint32(world.Rank()*n+i)) % walkVertices)
	}
	return &graphWalks{world, win, vertices, make([]int32, walkDegree)}, win.Sync()
}

func (g *graphWalks) close() error { return errors.Join(g.win.UnlockAll(), g.win.Free()) }

// walk walks from one vertex, and returns a sum over its way.
func (g *graphWalks) walk(i uint32) (sum uint64, err error) {
	x, at := i, int(mixed(i)%walkVertices)
	for range walkLength {
		owner := at / g.vertices
		if err := g.win.Get(g.list, owner, at%g.vertices*walkDegree); err != nil {
			return 0, err
		}
		if err := g.win.Flush(owner); err != nil {
			return 0, err
		}
		x = iterated(x+uint32(at), walkWork)
		at = int(g.list[mixed(x)%walkDegree])
		sum += uint64(mixed(x + uint32(at)))
	}
	return sum, nil
}

func (g *graphWalks) run() error {
	total, n := uint64(0), g.world.Size()
	for i := firstOf(walks, g.world.Rank(), n); i < firstOf(walks, g.world.Rank()+1, n); i++ {
		sum, err := g.walk(uint32(i))
		if err != nil {
			return err
		}
		total += sum
	}
	return expectTotal(g.world, total, walkResult)
}
