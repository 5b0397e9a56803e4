// Package mpitest runs ranks inside a Go test: n goroutines of the test process, over each
// fabric in turn, so that one test covers all of them.
package mpitest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/mpi"
)

// Fabrics are the fabrics that Run covers: those listed in the environment variable
// HALO_TEST_FABRICS, separated by commas, or all that this platform has. Under the race detector
// these are inproc and tcp, since the race detector does not see synchronisation in shared memory,
// and inproc runs the same code on the heap.
func Fabrics() []string { return testrun.Fabrics("inproc", "shm", "tcp") }

// Run runs fn as n ranks over every fabric, each in a subtest named after it. The test fails if
// a rank fails; ranks may call t.FailNow.
func Run(t *testing.T, n int, fn func(t testing.TB, world *mpi.Comm)) {
	t.Helper()
	for _, fabric := range Fabrics() {
		t.Run(fmt.Sprintf("%s-%d", fabric, n), func(t *testing.T) { On(t, fabric, n, fn) })
	}
}

// On runs fn as n ranks over one fabric.
func On(t testing.TB, fabric string, n int, fn func(t testing.TB, world *mpi.Comm)) {
	t.Helper()
	err := RunOver(fabric, n, func(world *mpi.Comm) error {
		fn(t, world)
		if t.Failed() {
			return errors.New("the test has failed")
		}
		return nil
	})
	if err != nil {
		t.Errorf("%d ranks over %s: %v", n, fabric, err)
	}
}

// RunOver is mpi.Run over a fabric: "inproc" (channels and rings on the heap), "shm" (shared
// memory as between processes) or "tcp" (loopback sockets). It can simulate several hosts: over
// "shm@0110" the second and third of four ranks are on another host than the others, which they
// reach by sealed sockets.
func RunOver(fabric string, n int, fn func(world *mpi.Comm) error) error {
	type api interface {
		RunOver(fabric string, n int, fn func(world *mpi.Comm) error) error
	}
	return unexported.Get[api]().RunOver(fabric, n, fn)
}

// Process is a process that has not called Init. Its functions stand for those of package mpi that
// concern the whole process.
type Process struct {
	Rank        int // index in the job
	OpenSession func(h mpi.Errhandler, hints ...mpi.SessionHint) (*mpi.Session, error)
	Init        func() (*mpi.Comm, error)
	Finalize    func() error
}

// RunProcesses is Run of processes that have not called Init.
func RunProcesses(t *testing.T, n int, fn func(t testing.TB, p *Process)) {
	t.Helper()
	for _, fabric := range Fabrics() {
		t.Run(fmt.Sprintf("%s-%d", fabric, n), func(t *testing.T) { ProcessesOn(t, fabric, n, fn) })
	}
}

// ProcessesOn is On of processes that have not called Init.
func ProcessesOn(t testing.TB, fabric string, n int, fn func(t testing.TB, p *Process)) {
	t.Helper()
	type api interface {
		RunProcesses(fabric string, n int, fn func(rank int, open func(h mpi.Errhandler, hints ...mpi.SessionHint) (*mpi.Session, error), init func() (*mpi.Comm, error), finalize func() error) error) error
	}
	err := unexported.Get[api]().RunProcesses(fabric, n, func(rank int, open func(h mpi.Errhandler, hints ...mpi.SessionHint) (*mpi.Session, error), init func() (*mpi.Comm, error), finalize func() error) error {
		fn(t, &Process{rank, open, init, finalize})
		if t.Failed() {
			return errors.New("the test has failed")
		}
		return nil
	})
	if err != nil {
		t.Errorf("%d processes over %s: %v", n, fabric, err)
	}
}

// Jobs runs fn in the ranks of several jobs at the same time, over every fabric: sizes are the numbers
// of their ranks, and job is the number of a job. When a job fails, ctx ends for the others.
func Jobs(t *testing.T, sizes []int, fn func(ctx context.Context, t testing.TB, job int, world *mpi.Comm)) {
	t.Helper()
	for _, fabric := range Fabrics() {
		t.Run(fmt.Sprintf("%s-%v", fabric, sizes), func(t *testing.T) { JobsOn(t, fabric, sizes, fn) })
	}
}

// JobsOn is Jobs over one fabric.
func JobsOn(t testing.TB, fabric string, sizes []int, fn func(ctx context.Context, t testing.TB, job int, world *mpi.Comm)) {
	t.Helper()
	err := RunJobs(fabric, sizes, func(ctx context.Context, job int, world *mpi.Comm) error {
		fn(ctx, t, job, world)
		if t.Failed() {
			return errors.New("the test has failed")
		}
		return nil
	})
	if err != nil {
		t.Errorf("jobs of %v ranks over %s: %v", sizes, fabric, err)
	}
}

// RunJobs is RunOver of several jobs at the same time. It returns the first error of a job.
func RunJobs(fabric string, sizes []int, fn func(ctx context.Context, job int, world *mpi.Comm) error) error {
	type api interface {
		RunJobs(fabric string, sizes []int, fn func(ctx context.Context, job int, world *mpi.Comm) error) error
	}
	return unexported.Get[api]().RunJobs(fabric, sizes, fn)
}
