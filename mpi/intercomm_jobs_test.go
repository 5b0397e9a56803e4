package mpi_test

import (
	"context"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Rank 0 of the first job has met the second job, and the other ranks have not: an intercommunicator of the two jobs
// connects them all (X-DYN-01, COM-01).
func TestXDYN01_COM01_GroupsThatHaveNotMet(t *testing.T) {
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := make(chan string, 1)
			mpitest.JobsOn(t, fabric, []int{3, 2}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				var inter, peer *mpi.Comm
				var err error
				leader := world.Size() - 1
				if world.Rank() == leader {
					inter, err = meet(ctx, names, job == 0, world.Self(), 0)
					ok(t, err)
					peer, err = inter.Merge(job == 1)
					ok(t, err)
				}
				for range 2 { // the second time all know each other
					c, err := mpi.IntercommCreate(world, leader, peer, 1-job, 5)
					ok(t, err)
					got := make([]int64, c.RemoteSize())
					ok(t, mpi.Allgather(c, []int64{int64(10*job + world.Rank())}, got))
					for r, v := range got {
						if v != int64(10*(1-job)+r) {
							t.Errorf("job %d has %v of the other one", job, got)
						}
					}
					all, err := c.Merge(job == 1)
					ok(t, err)
					sum := []int64{int64(all.Rank())}
					ok(t, mpi.Allreduce(all, sum, sum, mpi.Sum))
					if sum[0] != 10 || all.Size() != 5 {
						t.Errorf("the sum of the ranks of %d is %d", all.Size(), sum[0])
					}
					ok(t, all.Disconnect())
					defer c.Disconnect()
				}
				if peer != nil {
					ok(t, peer.Disconnect())
					ok(t, inter.Disconnect())
				}
			})
		})
	}
}

// Several goroutines accept, and connect, over the communicator of their process alone at the same time (X-DYN-01).
func TestXDYN01_ManyOverSelf(t *testing.T) {
	const threads, rounds = 4, 3
	for _, fabric := range mpitest.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			names := make(chan string, threads*rounds) // each is taken once
			mpitest.JobsOn(t, fabric, []int{1, 1}, func(ctx context.Context, t testing.TB, job int, world *mpi.Comm) {
				var all sync.WaitGroup
				for range threads {
					all.Go(func() {
						for range rounds {
							inter, err := meet(ctx, names, job == 0, world.Self(), 0)
							if err != nil {
								t.Error(err)
								return
							}
							if err := inter.Barrier(); err != nil {
								t.Error(err)
							}
							if err := inter.Disconnect(); err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
			})
		})
	}
}
