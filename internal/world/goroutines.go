package world

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/halo-mpi/halo/internal/boot"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/fabric/inproc"
	"github.com/halo-mpi/halo/internal/fabric/shm"
	"github.com/halo-mpi/halo/internal/fabric/tcp"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
	"github.com/halo-mpi/halo/internal/sys"
)

// goroutinePolicy is how ranks that are goroutines wait: they share the cores
// through the Go scheduler.
func goroutinePolicy() proc.Policy {
	return proc.Policy{Loads: 4, Yields: 100, Yield: runtime.Gosched}
}

// RunGoroutines runs fn in n processes that are goroutines of this OS process,
// over the fabric of that name, and returns when all have ended: the errors of
// the ranks that failed first. When a rank fails the others find it dead.
func RunGoroutines(name string, n int, fn func(*World) error) error {
	g := &goroutines{ranks: make([]*World, n)}
	boots := boot.Memory(n)
	open, release, err := opener(name, n, boots)
	if err != nil {
		return err
	}
	defer release()
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
	for _, w := range g.ranks {
		if w != nil {
			if err := w.Proc.Stop(); err != nil {
				errs = append(errs, err)
			}
		}
	}
	// After a failure goroutines may be left that are still in calls.
	failed := errors.Join(errs...) != nil
	for _, w := range g.ranks {
		if w != nil && w.Proc.Node() != nil {
			errs = append(errs, w.Proc.Node().Release(failed))
		}
	}
	if g.first != nil {
		return g.first
	}
	return errors.Join(errs...)
}

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
	}()
	err = fn(w)
	ended = true
	return err
}

// opener returns the function that makes the world of rank i.
func opener(name string, n int, boots []boot.Boot) (open func(i int) (*World, error), release func(), err error) {
	nothing := func() {}
	switch name {
	case "inproc":
		mem, err := inproc.New(n)
		if err != nil {
			return nil, nil, err
		}
		return func(i int) (*World, error) {
			node, err := mem.Open(i)
			if err != nil {
				return nil, err
			}
			return start(boots[i], node, nil, goroutinePolicy(), nil)
		}, nothing, nil
	case "shm":
		mem, err := newMemory(n)
		if err != nil {
			return nil, nil, err
		}
		return func(i int) (*World, error) {
			b := &memoryBoot{boots[i], mem}
			node, err := shm.Open(b)
			if err == nil {
				_, err = b.Exchange(nil)
			}
			if err != nil {
				return nil, err
			}
			return start(b, node, nil, goroutinePolicy(), nil)
		}, mem.close, nil
	case "tcp":
		return func(i int) (*World, error) {
			far, err := dial(boots[i])
			if err != nil {
				return nil, err
			}
			return start(boots[i], nil, far, goroutinePolicy(), nil)
		}, nothing, nil
	}
	return nil, nil, fmt.Errorf("fabric %q: %w", name, fabric.ErrUnsupported)
}

// dial opens the tcp fabric; collective over the job.
func dial(b boot.Boot) (*tcp.Fabric, error) {
	f, addr, err := tcp.Listen(tcp.Config{Job: b.Job()})
	if err != nil {
		return nil, err
	}
	all, err := b.Exchange([]byte(addr))
	if err != nil {
		return nil, err
	}
	addrs := make([]string, len(all))
	for i, a := range all {
		addrs[i] = string(a)
	}
	return f, f.Start(addrs)
}

// memory is the shared memory of goroutine ranks: what a launcher would hold.
type memory struct {
	control  *os.File
	segments []*os.File
}

func newMemory(n int) (m *memory, err error) {
	m = &memory{}
	if m.control, err = sys.Memfd("halo-control", shmfmt.ControlSize(n)); err != nil {
		return nil, err
	}
	for i := range n {
		f, err := sys.Memfd(fmt.Sprintf("halo-segment-%d", i), shmfmt.SegmentSize(n))
		if err != nil {
			m.close()
			return nil, err
		}
		m.segments = append(m.segments, f)
	}
	return m, nil
}

func (m *memory) close() {
	m.control.Close()
	for _, f := range m.segments {
		f.Close()
	}
}

// memoryBoot is a goroutine rank's boot.Boot with shared memory.
type memoryBoot struct {
	boot.Boot
	mem *memory
}

// Segment implements boot.Boot.
func (b *memoryBoot) Segment(rank int) (*os.File, error) {
	switch {
	case rank == -1:
		return sys.Dup(b.mem.control)
	case rank >= 0 && rank < len(b.mem.segments):
		return sys.Dup(b.mem.segments[rank])
	}
	return nil, fmt.Errorf("world: segment %d: %w", rank, fabric.ErrUnsupported)
}
