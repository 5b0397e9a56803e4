package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/mpi"
)

// workerVariable is set in the environment of workers that Spawn has started.
const workerVariable = "HALO_POOL_WORKER"

// Info gives Spawn further keys for the start of workers, such as host; docs/dynamic.md lists them.
func Info(i *mpi.Info) Option { return func(o *options) { o.info = i } }

// Spawn makes a pool of n processes that it starts: further processes of this program, with the same
// arguments, whose main function begins with Worker. It calls run with the pool, in the calling process, which may be any
// process of c and alone in calling Spawn. When run has returned, the workers end; else Spawn returns as Over does.
//
// Each worker is a job of its own, so that the death of one ends no other process: it is replaced by a new one, and
// with Retry its task runs again. Workers count from 0 in the order of their start.
//
// The end of ctx ends the start of workers, and not the pool. Errors: those of Comm.Spawn; ErrArg.
func Spawn(ctx context.Context, c *mpi.Comm, n int, run func(p *Pool) error, with ...Option) error {
	p, err := newPool(with)
	if err != nil {
		return err
	}
	if c == nil {
		return fmt.Errorf("pool: Spawn: communicator is nil (%w)", mpi.ErrComm)
	}
	if n < 1 {
		return fmt.Errorf("pool: Spawn: %d workers, want at least 1 (%w)", n, mpi.ErrArg)
	}
	ctx, p.stop = context.WithCancel(ctx)
	defer p.stop()
	s := &spawner{self: c.Self(), info: p.options.info}
	s.program, err = os.Executable()
	if err != nil {
		return fmt.Errorf("pool: Spawn: %w", err)
	}
	p.spawn = func() (link, error) { return s.start(ctx) }
	links, errs := make([]link, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n { // at the same time, since each takes milliseconds
		all.Go(func() { links[i], errs[i] = p.spawn() })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		for i, l := range links {
			if errs[i] == nil {
				l.close(false)
			}
		}
		return err
	}
	return p.serve(links, run)
}

// A spawner starts workers.
type spawner struct {
	self    *mpi.Comm
	program string
	info    *mpi.Info
	count   atomic.Int32 // of workers
}

// duplicating is held while a pool makes a duplicate of a process's Self, on which calls must not meet. Workers that are
// started at the same time need one each.
var duplicating sync.Mutex

func (s *spawner) start(ctx context.Context) (link, error) {
	duplicating.Lock()
	own, err := s.self.Dup()
	duplicating.Unlock()
	if err != nil {
		return nil, err
	}
	defer own.Free()
	own.SetErrhandler(mpi.ErrorsReturn)
	own.SetName("pool")
	c, _, err := own.Spawn(ctx, 0, mpi.Command{Program: s.program, Args: os.Args[1:], N: 1, Env: []string{workerVariable + "=1"}, Apart: true, Info: s.info})
	if err != nil {
		return nil, err
	}
	c.SetName("pool")
	return &remote{c: c, number: int(s.count.Add(1) - 1), spawned: true}, nil
}

// Worker is the first call of the main function of a program that uses Spawn. In a worker it does not return:
// it runs tasks until the pool ends, and then ends the process. In other processes it does nothing.
func Worker() {
	if os.Getenv(workerVariable) == "" {
		return
	}
	os.Unsetenv(workerVariable) // programs that a task starts are no workers
	if err := serveParent(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveParent runs the tasks of the process that has spawned this one.
func serveParent() error {
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	c := world.Parent()
	if c == nil {
		return fmt.Errorf("pool: Worker: the environment has %s, but no process has spawned this one", workerVariable)
	}
	if err := (&worker{}).serve(c, 0); err != nil {
		return err
	}
	if err := c.Disconnect(); err != nil {
		return err
	}
	return mpi.Finalize()
}
