package world

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/sim"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/node/inproc"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// goroutinePolicy returns how ranks that are goroutines wait: they share the cores through the Go
// scheduler.
func goroutinePolicy() proc.Policy {
	return proc.Policy{Loads: 4, Yields: 100, Often: true, Slice: proc.LostSlice, Yield: runtime.Gosched}
}

// RunGoroutines runs fn in n MPI processes that are goroutines of this process, over the fabric of that
// name. It returns when all have ended: the error of the rank that failed first. When a rank fails, the
// others find it dead.
//
// The name may spread the ranks over pretended hosts: inproc@0010 is four ranks, of which the third is
// on a host of its own. The fabric connects the ranks of a host; sealed tcp connects the hosts.
func RunGoroutines(name string, n int, fn func(*World) error) error {
	return RunProcesses(name, n, joined(fn))
}

// joined joins the world model before fn.
func joined(fn func(*World) error) func(*World) error {
	return func(w *World) error {
		if err := w.Join(); err != nil {
			return err
		}
		return fn(w)
	}
}

// RunProcesses is RunGoroutines of processes that have not joined the world model.
func RunProcesses(name string, n int, fn func(*World) error) error {
	g := &goroutines{ranks: make([]*World, n)}
	boots := boot.Memory(n)
	name, err := pretend(name, boots)
	if err != nil {
		return err
	}
	check, err := checkFromEnv(os.Getenv)
	if err != nil {
		return err
	}
	open, release, err := opener(name, boots, func(int) bool { return check })
	if err != nil {
		return err
	}
	defer release()
	return g.runAll(open, fn)
}

// RunSimulated is RunGoroutines over a simulated network. In a bubble of package testing/synctest it takes
// virtual time.
func RunSimulated(net *sim.Network, n int, fn func(*World) error) error {
	g := &goroutines{ranks: make([]*World, n)}
	boots := boot.Memory(n)
	return g.runAll(func(i int) (*World, error) {
		// A rank never polls in vain, since no time passes then.
		return startOver(boots[i], ways{}, net.Fabric(i), false, proc.Policy{Yield: runtime.Gosched}, false, notes{})
	}, joined(fn))
}

// runAll runs fn in all processes, which open returns.
func (g *goroutines) runAll(open func(i int) (*World, error), fn func(*World) error) error {
	n := len(g.ranks)
	errs := make([]error, n)
	var all, opened sync.WaitGroup
	opened.Add(n)
	for i := range n {
		all.Go(func() {
			w, err := open(i)
			g.ranks[i] = w
			opened.Done()
			opened.Wait()
			if err == nil {
				err = g.run(i, w, fn)
			}
			errs[i] = err
		})
	}
	all.Wait()
	// After a failure some goroutines may still be in calls.
	failed := errors.Join(errs...) != nil
	for _, w := range g.ranks {
		if w != nil {
			w.Meet.End()
			if failed {
				w.Proc.LoseAll(errRunOver)
			}
			if err := w.Proc.Stop(); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for _, w := range g.ranks {
		if w != nil {
			errs = append(errs, w.RMA.Release(failed))
		}
		switch {
		case w == nil:
		case w.Proc.Node() != nil:
			errs = append(errs, w.Proc.Node().Release(failed))
		case !failed:
			errs = append(errs, w.Memory.Release())
		}
	}
	if g.first != nil {
		return g.first
	}
	return errors.Join(errs...)
}

// errRunOver is the error of calls that are still in progress when all ranks have ended.
var errRunOver = errors.New("the run is over")

// goroutines are the ranks of one RunGoroutines.
type goroutines struct {
	ranks []*World
	mu    sync.Mutex
	first error // of the rank that failed first; the others fail because of it
}

// run runs fn as rank i. If it fails or panics, the other ranks lose the rank.
func (g *goroutines) run(i int, w *World, fn func(*World) error) (err error) {
	ended := false
	defer func() {
		if p := recover(); p != nil {
			cause, ok := p.(error)
			if !ok {
				cause = fmt.Errorf("%v", p)
			}
			err = fmt.Errorf("rank %d: panic: %w\n%s", i, cause, debug.Stack())
		} else if !ended { // runtime.Goexit, as testing.T.FailNow does
			err = fmt.Errorf("rank %d: its goroutine has ended", i)
		}
		if err == nil {
			return
		}
		g.mu.Lock()
		if g.first == nil {
			g.first = err
		}
		g.mu.Unlock()
		for j, o := range g.ranks {
			if j != i && o != nil {
				o.Proc.Lose(i, fmt.Errorf("its function has failed: %w", err))
			}
		}
		// A rank that has left the barrier of Finalize waits for all others, so this one must count as
		// finalized.
		if stopped := w.boot.Finalize(); stopped != nil {
			err = errors.Join(err, stopped)
		}
	}()
	err = fn(w)
	ended = true
	return err
}

// opener returns the function that makes the world of rank i, which checks or not.
func opener(name string, boots []boot.Boot, checks func(i int) bool) (open func(i int) (*World, error), release func(), err error) {
	n, release := len(boots), func() {}
	var near func(i int) (*node.Node, error) // opens the node of rank i
	switch name {
	case "inproc":
		nodes := map[int]*inproc.World{} // by first rank
		for _, b := range boots {
			if local := b.Job().Local; nodes[local[0]] == nil {
				nodes[local[0]], err = inproc.NewNode(local, n)
				if err != nil {
					return nil, nil, err
				}
			}
		}
		near = func(i int) (*node.Node, error) {
			local := boots[i].Job().Local
			return nodes[local[0]].Open(slices.Index(local, i))
		}
	case "shm":
		nodes := map[int]*hostMemory{} // by first rank
		release = func() {
			for _, m := range nodes {
				m.close()
			}
		}
		for i, b := range boots {
			local := b.Job().Local
			if nodes[local[0]] == nil {
				m, err := newHostMemory(local)
				if err != nil {
					release()
					return nil, nil, err
				}
				nodes[local[0]] = m
			}
			boots[i] = &memoryBoot{b, nodes[local[0]]}
		}
		near = func(i int) (*node.Node, error) { return node.Open(boots[i]) }
	case "tcp":
	default:
		return nil, nil, fmt.Errorf("fabric %q: %w", name, fabric.ErrUnsupported)
	}
	return func(i int) (*World, error) {
		b := boots[i]
		way, err := openRemote(b, near, i)
		if err != nil {
			return nil, err
		}
		return start(b, way, checks(i), goroutinePolicy(), false, notes{})
	}, release, nil
}

// openRemote opens the ways to the other ranks: near to the ranks of the host, unless near is nil, and
// tcp to the others.
func openRemote(b boot.Boot, near func(i int) (*node.Node, error), i int) (way ways, err error) {
	job := b.Job()
	if near != nil && (len(job.Local) > 1 || job.Size == 1) {
		way.near, err = near(i)
		if err != nil {
			return way, err
		}
	}
	if near == nil || len(job.Local) < job.Size {
		way.far, way.addr, err = way.listen(job)
	}
	return way, err
}

// hostMemory is the shared memory of the ranks of a host that are goroutines. It replaces the launcher.
type hostMemory struct {
	control  *os.File
	segments map[int]*os.File // by rank
}

func newHostMemory(local []int) (m *hostMemory, err error) {
	n := len(local)
	m = &hostMemory{segments: map[int]*os.File{}}
	m.control, err = sys.Memfd("halo-control", shmfmt.ControlSize(n))
	if err != nil {
		return nil, err
	}
	for _, i := range local {
		// Each rank maps all heaps, in this one process.
		heap := shmfmt.HeapSize(int64(sys.PhysicalMemory()), sys.AddressSpace(), n*n)
		f, err := sys.Sparse(fmt.Sprintf("halo-segment-%d", i), shmfmt.HeapStart(n), heap, shmfmt.HeapUnit)
		if err != nil {
			m.close()
			return nil, err
		}
		m.segments[i] = f
	}
	return m, nil
}

func (m *hostMemory) close() {
	m.control.Close()
	for _, f := range m.segments {
		f.Close()
	}
}

// memoryBoot is the boot.Boot of a rank that is a goroutine, with shared memory.
type memoryBoot struct {
	boot.Boot
	mem *hostMemory
}

// Segment implements boot.Boot.
func (b *memoryBoot) Segment(rank int) (*os.File, error) {
	switch {
	case rank == -1:
		return sys.Dup(b.mem.control)
	case b.mem.segments[rank] != nil:
		return sys.Dup(b.mem.segments[rank])
	}
	return nil, fmt.Errorf("world: segment %d: %w", rank, errors.ErrUnsupported)
}
