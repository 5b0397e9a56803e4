package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The eager paths allocate nothing per message, on any fabric: the engine pools what they use.
// Both ranks run in this process, so that both are counted.
func TestEagerPathsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	const runs = 2000
	steps := []struct {
		name string
		step func(c *mpi.Comm, peer int, buf []int64, rs []mpi.Request) error
	}{
		{"Send and Recv", func(c *mpi.Comm, peer int, buf []int64, _ []mpi.Request) error {
			if c.Rank() == 0 {
				if err := mpi.Send(c, buf, peer, 1); err != nil {
					return err
				}
				_, err := mpi.Recv(c, buf, peer, 1)
				return err
			}
			if _, err := mpi.Recv(c, buf, peer, 1); err != nil {
				return err
			}
			return mpi.Send(c, buf, peer, 1)
		}},
		{"Isend, Irecv and Waitall", func(c *mpi.Comm, peer int, buf []int64, rs []mpi.Request) error {
			rs[0] = mpi.Irecv(c, buf[1:], peer, 2)
			rs[1] = mpi.Isend(c, buf[:1], peer, 2)
			return mpi.Waitall(rs, nil)
		}},
		{"Sendrecv", func(c *mpi.Comm, peer int, buf []int64, _ []mpi.Request) error {
			_, err := mpi.Sendrecv(c, buf[:1], peer, 3, buf[1:], peer, 3)
			return err
		}},
		{"Barrier", func(c *mpi.Comm, _ int, _ []int64, _ []mpi.Request) error { return c.Barrier() }},
		{"Allreduce", func(c *mpi.Comm, _ int, buf []int64, _ []mpi.Request) error {
			return mpi.Allreduce(c, buf[:1], buf[1:], mpi.Max)
		}},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
				buf, rs, peer := make([]int64, 2), make([]mpi.Request, 2), 1-c.Rank()
				var failed error
				step := func() {
					if err := s.step(c, peer, buf, rs); err != nil && failed == nil {
						failed = err
					}
				}
				for range runs { // fills the pools
					step()
				}
				if c.Rank() == 0 {
					// AllocsPerRun makes one more call to warm up.
					if n := testing.AllocsPerRun(runs, step); n >= 1 {
						t.Errorf("%v allocations per run", n)
					}
				} else {
					for range runs + 1 {
						step()
					}
				}
				if failed != nil {
					t.Error(failed)
				}
			})
		})
	}
}

// Starting a persistent request again allocates nothing.
func TestPersistentRequestsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	const runs = 2000
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		buf, peer := make([]int64, 2), 1-c.Rank()
		rs := []mpi.Request{mpi.RecvInit(c, buf[1:], peer, 4), mpi.SendInit(c, buf[:1], peer, 4)}
		step := func() {
			if err := mpi.Startall(rs); err != nil {
				t.Error(err)
			}
			if err := mpi.Waitall(rs, nil); err != nil {
				t.Error(err)
			}
		}
		for range runs {
			step()
		}
		if c.Rank() == 0 {
			if n := testing.AllocsPerRun(runs, step); n >= 1 {
				t.Errorf("%v allocations per run", n)
			}
		} else {
			for range runs + 1 {
				step()
			}
		}
		for i := range rs {
			if err := rs[i].Free(); err != nil {
				t.Error(err)
			}
		}
	})
}
