package mpi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// BRD-02: a session is not finalized while a request on one of its communicators is active, although the program has
// freed the communicator. Then the request has its result, and the session ends.
func TestBRD02_SessionsWaitForRequestsOnFreedCommunicators(t *testing.T) {
	const n = 100_000 // int64, a message that the receiver fetches
	kinds := []struct {
		name  string
		start func(c *mpi.Comm, x []int64) mpi.Request // at rank 0, before it frees c
		other func(c *mpi.Comm, x []int64) error       // at rank 1, when rank 0 has freed c
		sum   int64                                    // of x at rank 0 at the end, where x is 1 everywhere at the beginning, 2 at rank 1
	}{
		{"Irecv", func(c *mpi.Comm, x []int64) mpi.Request { return mpi.Irecv(c, x, 1, 1) },
			func(c *mpi.Comm, x []int64) error { return mpi.Send(c, x, 0, 1) }, 2 * n},
		{"Issend", func(c *mpi.Comm, x []int64) mpi.Request { return mpi.Issend(c, x, 1, 1) },
			func(c *mpi.Comm, x []int64) error { _, err := mpi.Recv(c, x, 0, 1); return err }, n},
		{"RecvInit", func(c *mpi.Comm, x []int64) mpi.Request {
			r := mpi.RecvInit(c, x, 1, 1)
			if err := r.Start(); err != nil {
				t.Error(err)
			}
			return r
		}, func(c *mpi.Comm, x []int64) error { return mpi.Send(c, x, 0, 1) }, 2 * n},
		{"PrecvInit", func(c *mpi.Comm, x []int64) mpi.Request {
			r := mpi.PrecvInit(c, x, 1, 1, 1)
			if err := r.Start(); err != nil {
				t.Error(err)
			}
			return r
		}, func(c *mpi.Comm, x []int64) error {
			r := mpi.PsendInit(c, x, 1, 0, 1)
			if err := r.Start(); err != nil {
				return err
			}
			if err := r.Pready(0); err != nil {
				return err
			}
			if err := waitFor(r); err != nil {
				return err
			}
			return r.Free()
		}, 2 * n},
		{"Iallreduce", func(c *mpi.Comm, x []int64) mpi.Request { return mpi.Iallreduce(c, slices.Clone(x), x, mpi.Sum) },
			func(c *mpi.Comm, x []int64) error { return waitFor(mpi.Iallreduce(c, slices.Clone(x), x, mpi.Sum)) }, 3 * n},
	}
	everywhere(t, 2, nil, func(t testing.TB, p *mpitest.Process) {
		for _, k := range kinds {
			s := opened(t, p)
			c, d := commOf(t, s, mpi.PsetWorld), commOf(t, s, mpi.PsetWorld)
			x := make([]int64, n)
			for i := range x {
				x[i] = int64(p.Rank) + 1
			}
			if p.Rank == 1 {
				ok(t, d.Barrier())
				if err := k.other(c, x); err != nil {
					t.Errorf("%s: rank 1: %v", k.name, err)
				}
				ok(t, c.Free())
				ok(t, s.Finalize())
				continue
			}
			r := k.start(c, x)
			ok(t, c.Free())
			wantClass(t, s.Finalize(), mpi.ErrPending)
			ok(t, d.Barrier())
			ok(t, waitFor(r))
			if strings.HasSuffix(k.name, "Init") {
				ok(t, r.Free())
			}
			var sum int64
			for _, v := range x {
				sum += v
			}
			if sum != k.sum {
				t.Errorf("%s: the sum is %d, want %d", k.name, sum, k.sum)
			}
			ok(t, s.Finalize())
		}
	})
}
