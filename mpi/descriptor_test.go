package mpi_test

import (
	"sync/atomic"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Await in a collective that another language has begun ends when a member has died, and so do
// later calls on the communicator.
func TestF1_AwaitOfTheDead(t *testing.T) {
	onDeath(t, 3, func(testing.TB, *mpi.Comm) {}, func(t testing.TB, c *mpi.Comm) {
		if address := mpi.Internals.CommDescriptor(c); address == 0 {
			return // the members share no memory
		}
		var word atomic.Uint64
		wantClass(t, mpi.Internals.Await(c, &word, 1), mpi.ErrProcFailed)
		wantClass(t, c.Barrier(), mpi.ErrProcFailed)
	})
}

// Ring wakes a process that sleeps in Await, which then sees the new value of the word.
func TestAwaitIsWoken(t *testing.T) {
	for _, fabric := range []string{"inproc", "shm"} {
		var word atomic.Uint64
		err := mpitest.RunOver(fabric, 3, func(c *mpi.Comm) error {
			if c.Rank() > 0 {
				return mpi.Internals.Await(c, &word, 1)
			}
			word.Store(1)
			mpi.Internals.Ring(c)
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}
