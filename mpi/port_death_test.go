package mpi_test

import (
	"context"
	"errors"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// X-DYN-01: the death of a process of the other job is an error at those who wait for it, and not the end of their job.
func TestXDYN01_DeathOfTheOtherJob(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := make(chan string, 1)
			died := errors.New("the process has died")
			err := mpitest.RunJobs(fabric, []int{2, 2}, func(ctx context.Context, job int, world *mpi.Comm) error {
				inter, err := meet(ctx, names, job == 0, world, 0)
				if err != nil {
					return err
				}
				merged, err := inter.Merge(job == 1)
				if err != nil {
					return err
				}
				buf := make([]int, 1)
				for r := range 2 {
					if job == 1 { // both have left Merge
						_, err = mpi.Recv(inter, buf, r, 2)
					} else {
						err = mpi.Send(inter, buf, r, 2)
					}
					if err != nil {
						return err
					}
				}
				if job == 1 {
					return died
				}
				_, err = mpi.Recv(inter, buf, world.Rank(), 1)
				portError(t, "receive", err, mpi.ErrProcFailed)
				_, err = mpi.Recv(inter, buf, mpi.AnySource, 1)
				portError(t, "receive from any", err, mpi.ErrProcFailed)
				portError(t, "collective", merged.Barrier(), mpi.ErrProcFailed)
				if err := world.Barrier(); err != nil {
					t.Errorf("the own job: %v", err)
				}
				return inter.Disconnect()
			})
			if !errors.Is(err, died) {
				t.Errorf("%v", err)
			}
		})
	}
}

// X-DYN-01, COM-04: the death of a process is no error at those that have disconnected from it.
func TestXDYN01_COM04_DeathAfterDisconnect(t *testing.T) {
	died := errors.New("the process has died")
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := [2]chan string{make(chan string, 1), make(chan string, 1)}
			err := mpitest.RunJobs(fabric, []int{2, 1, 2}, func(ctx context.Context, job int, world *mpi.Comm) error {
				with := func(k int) *mpi.Comm { // names 0 are those of jobs 0 and 1, names 1 those of jobs 0 and 2
					inter, err := meet(context.Background(), names[k], job == 0, world, 0)
					ok(t, err)
					return inter
				}
				if job == 1 {
					ok(t, with(0).Disconnect())
					return died
				}
				var left *mpi.Comm
				if job == 0 {
					left = with(0)
				}
				inter := with(1)
				got := []int{0}
				r := mpi.Irecv(inter, got, mpi.AnySource, 1)
				if job == 0 {
					ok(t, left.Disconnect())
				}
				<-ctx.Done() // job 1 has ended
				ok(t, mpi.Send(inter, []int{7 + inter.Rank()}, inter.Rank(), 1))
				_, err := r.Wait()
				ok(t, err)
				if got[0] != 7+inter.Rank() {
					t.Errorf("got %d, want %d", got[0], 7+inter.Rank())
				}
				ok(t, world.Barrier())
				ok(t, inter.Barrier())
				return inter.Disconnect()
			})
			if !errors.Is(err, died) {
				t.Errorf("%v", err)
			}
		})
	}
}
