package mpi

import (
	"context"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/world"
)

// Run runs fn as n ranks that are goroutines of this process, each with its own world, and
// returns when all have ended. It returns the first error of a rank, or the error of starting
// them. When a rank returns an error or panics, calls of other ranks that depend on it fail with
// ErrProcFailed.
//
// C: none; it takes the place of the standard's mpiexec within one process.
func Run(n int, fn func(world *Comm) error) error {
	return internals{}.RunOver("inproc", n, fn)
}

// RunOver is Run over a fabric, as mpitest.RunOver describes it.
func (internals) RunOver(fabric string, n int, fn func(world *Comm) error) error {
	if n < 1 {
		return fail(ErrArg, call.Run, nil, "%d ranks, want at least 1", n)
	}
	return internals{}.RunBy(func(rank func(w *world.World) error) error { return world.RunGoroutines(fabric, n, rank) }, fn)
}

// RunProcesses is RunOver of processes that have not called Init. fn gets what stands for the
// functions of this package that concern the whole process.
func (internals) RunProcesses(fabric string, n int, fn func(rank int, open func(h Errhandler, hints ...SessionHint) (*Session, error), init func() (*Comm, error), finalize func() error) error) error {
	return world.RunProcesses(fabric, n, func(w *world.World) error {
		e := newEngine(w)
		var c *Comm
		open := func(h Errhandler, hints ...SessionHint) (*Session, error) { return openSession(w, e, h, hints) }
		init := func() (*Comm, error) {
			if err := w.Join(); err != nil {
				return nil, raise(initError(err))
			}
			c = firstComms(w, e)
			return c, nil
		}
		return fn(w.Proc.Job().Rank, open, init, func() error { return c.finalize() })
	})
}

// RunJobs is RunOver of several jobs at the same time, of sizes ranks: job numbers them from 0. When a
// job fails, ctx ends for the others.
func (internals) RunJobs(fabric string, sizes []int, fn func(ctx context.Context, job int, world *Comm) error) error {
	return world.RunJobs(fabric, sizes, func(ctx context.Context, job int, w *world.World) error {
		c := firstComms(w, newEngine(w))
		if err := fn(ctx, job, c); err != nil {
			return err
		}
		return c.finalize()
	})
}

// RunBy is RunOver with the ranks that run starts. So programs that start none on a model network do not
// contain it.
func (internals) RunBy(run func(rank func(w *world.World) error) error, fn func(world *Comm) error) error {
	return run(func(w *world.World) error {
		c := firstComms(w, newEngine(w))
		if err := fn(c); err != nil {
			return err
		}
		return c.finalize()
	})
}
