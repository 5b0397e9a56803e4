package mpi_test

import (
	"errors"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/internal/unexported"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// processesOver runs fn as n processes and returns the first error of one. Those that depend on a
// process that has returned an error get ErrProcFailed.
func processesOver(fabric string, n int, fn func(p *mpitest.Process) error) error {
	type session = func(h mpi.Errhandler, hints ...mpi.SessionHint) (*mpi.Session, error)
	type api interface {
		RunProcesses(fabric string, n int, fn func(rank int, open session, init func() (*mpi.Comm, error), finalize func() error) error) error
	}
	return unexported.Get[api]().RunProcesses(fabric, n, func(rank int, open session, init func() (*mpi.Comm, error), finalize func() error) error {
		return fn(&mpitest.Process{Rank: rank, OpenSession: open, Init: init, Finalize: finalize})
	})
}

// died returns when the process of a rank has died.
func died(t testing.TB, s *mpi.Session, rank int) {
	t.Helper()
	world := groupOf(t, s, mpi.PsetWorld)
	two, err := world.Incl([]int{0, rank})
	ok(t, err)
	_, err = mpi.CommFromGroup(two, "death", mpi.ErrorsReturn) // in which the other one takes no part
	wantClass(t, err, mpi.ErrProcFailed)
}

// A process that dies before or while a communicator is made of its group is the error of all others,
// whose sessions can be finalized then, and which can make communicators without it.
func TestXSES01_F1_DeathWhileACommunicatorIsMade(t *testing.T) {
	const n = 4
	for _, fabric := range append(mpitest.Fabrics(), "inproc@0011") {
		for _, when := range []string{"without a session", "with a session", "after another one", "amid"} {
			t.Run(fabric+" "+when, func(t *testing.T) {
				defer testrun.Watch(t.Name() + ": a process waits for ever")()
				ended := make(chan error, 1)
				err := processesOver(fabric, n, func(p *mpitest.Process) error {
					victim := p.Rank == n-1
					if victim && when == "without a session" {
						return errDies
					}
					s := opened(t, p)
					world := groupOf(t, s, mpi.PsetWorld)
					ranks := make([]int, 0, n)
					for r := range n - 1 {
						ranks = append(ranks, r)
					}
					if when == "after another one" {
						c := commOf(t, s, mpi.PsetWorld)
						sums(t, c, n)
						ok(t, c.Disconnect()) // the others are done with this process
					}
					if victim && when == "amid" { // the call cannot succeed: rank 0 takes part after the death
						go func() {
							_, err := mpi.CommFromGroup(world, "test", mpi.ErrorsReturn)
							ended <- err
						}()
						time.Sleep(time.Millisecond)
					}
					if victim {
						return errDies
					}
					if p.Rank == 0 && when == "amid" {
						died(t, s, n-1)
					}
					_, err := mpi.CommFromGroup(world, "test", mpi.ErrorsReturn)
					wantClass(t, err, mpi.ErrProcFailed)
					rest, err := world.Incl(ranks)
					ok(t, err)
					c, err := mpi.CommFromGroup(rest, "rest", mpi.ErrorsReturn)
					ok(t, err)
					sums(t, c, n-1)
					ok(t, s.Finalize())
					return nil
				})
				if !errors.Is(err, errDies) {
					t.Errorf("the run ends with %v", err)
				}
				if when == "amid" {
					if err := <-ended; err == nil {
						t.Error("a communicator with a process that has died")
					}
				}
			})
		}
	}
}
