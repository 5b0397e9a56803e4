package mpi_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// X-PRT-01: wrong arguments and calls at the wrong time.
func TestXPRT01_Errors(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		if c.Rank() == 1 {
			r := mpi.PrecvInit(c, make([]int64, 6), 2, 0, 5)
			ok(t, r.Start())
			_, err := r.Wait()
			ok(t, err)
			ok(t, r.Free())
			return
		}
		buf := make([]int64, 6)
		s, r := mpi.PsendInit(c, buf, 3, 1, 5), mpi.PrecvInit(c, buf, 3, 1, 5)
		other := mpi.SendInit(c, buf, 1, 5)
		var null mpi.Request
		parrived := func(q mpi.Request, i int) error { _, err := q.Parrived(i); return err }
		wantErrors(t, []badCall{
			{waited(mpi.PsendInit(c, buf, 4, 1, 5)), mpi.ErrCount, "mpi: PsendInit on world to 1 tag 5: 6 elements in 4 partitions (MPI_ERR_COUNT)"},
			{waited(mpi.PrecvInit(c, buf, 0, 1, 5)), mpi.ErrCount, "mpi: PrecvInit on world from 1 tag 5: 6 elements in 0 partitions (MPI_ERR_COUNT)"},
			{waited(mpi.PsendInit(c, buf, -1, 1, 5)), mpi.ErrArg, "mpi: PsendInit on world to 1 tag 5: -1 partitions (MPI_ERR_ARG)"},
			{waited(mpi.PsendInit(c, buf, 3, 2, 5)), mpi.ErrRank, "mpi: PsendInit on world to 2 tag 5: rank 2 in a communicator of 2 (MPI_ERR_RANK)"},
			{waited(mpi.PrecvInit(c, buf, 3, mpi.AnySource, 5)), mpi.ErrRank, "mpi: PrecvInit on world from any source tag 5: a partitioned receive names its source (MPI_ERR_RANK)"},
			{waited(mpi.PrecvInit(c, buf, 3, 1, mpi.AnyTag)), mpi.ErrTag, "mpi: PrecvInit on world from 1 tag any: a partitioned receive names its tag (MPI_ERR_TAG)"},
			{s.Pready(0), mpi.ErrRequest, "mpi: Pready on world to 1 tag 5: the request is not started (MPI_ERR_REQUEST)"},
			{r.Pready(0), mpi.ErrRequest, "mpi: Pready on world: request of PrecvInit is no partitioned send (MPI_ERR_REQUEST)"},
			{other.Pready(0), mpi.ErrRequest, "mpi: Pready on world: request of SendInit is no partitioned send (MPI_ERR_REQUEST)"},
			{null.Pready(0), mpi.ErrRequest, "mpi: Pready: request is null (MPI_ERR_REQUEST)"},
			{parrived(s, 0), mpi.ErrRequest, "mpi: Parrived on world: request of PsendInit is no partitioned receive (MPI_ERR_REQUEST)"},
			{parrived(other, 0), mpi.ErrRequest, "mpi: Parrived on world: request of SendInit is no partitioned receive (MPI_ERR_REQUEST)"},
			{parrived(r, 3), mpi.ErrArg, "mpi: Parrived on world: partition 3 of a request of 3 (MPI_ERR_ARG)"},
			{parrived(r, -1), mpi.ErrArg, "mpi: Parrived on world: partition -1 of a request of 3 (MPI_ERR_ARG)"},
		})
		ok(t, s.Start())
		wantErrors(t, []badCall{
			{s.Start(), mpi.ErrRequest, "mpi: Start on world: request of PsendInit is active: wait for it first (MPI_ERR_REQUEST)"},
			{s.Free(), mpi.ErrRequest, "mpi: Free on world: PsendInit is active: wait for it first (MPI_ERR_REQUEST)"},
			{s.Cancel(), mpi.ErrRequest, "mpi: Cancel on world: PsendInit cannot be cancelled: partitions of it may have been moved (MPI_ERR_REQUEST)"},
			{s.Pready(3), mpi.ErrArg, "mpi: Pready on world to 1 tag 5: partition 3 of a request of 3 (MPI_ERR_ARG)"},
			{s.Pready(-1), mpi.ErrArg, "mpi: Pready on world to 1 tag 5: partition -1 of a request of 3 (MPI_ERR_ARG)"},
			{s.PreadyRange(1, 3), mpi.ErrArg, "mpi: PreadyRange on world to 1 tag 5: partitions 1 to 3 of a request of 3 (MPI_ERR_ARG)"},
			{s.PreadyRange(2, 1), mpi.ErrArg, "mpi: PreadyRange on world to 1 tag 5: partitions 2 to 1 are no range (MPI_ERR_ARG)"},
			{s.PreadyList([]int{0, 2, 4}), mpi.ErrArg, "mpi: PreadyList on world to 1 tag 5: partition 4 of a request of 3 (MPI_ERR_ARG)"},
			{s.Pready(2), mpi.ErrRequest, "mpi: Pready on world to 1 tag 5: partition 2 of 3 is ready already (MPI_ERR_REQUEST)"},
			{s.PreadyRange(1, 2), mpi.ErrRequest, "mpi: PreadyRange on world to 1 tag 5: partition 2 of 3 is ready already (MPI_ERR_REQUEST)"},
		})
		copied := s
		_, err := s.Wait()
		ok(t, err)
		wantErrors(t, []badCall{
			{s.Pready(0), mpi.ErrRequest, "mpi: Pready on world to 1 tag 5: the request is not started (MPI_ERR_REQUEST)"},
			{s.Cancel(), mpi.ErrRequest, "mpi: Cancel on world: request of PsendInit is inactive (MPI_ERR_REQUEST)"},
		})
		ok(t, s.Free())
		ok(t, r.Free())
		ok(t, other.Free())
		wantErrors(t, []badCall{
			{copied.Pready(0), mpi.ErrRequest, "mpi: Pready on world: request of PsendInit is stale: it was freed through another copy (MPI_ERR_REQUEST)"},
		})
	})
}

// X-PRT-01: sides of other lengths, or with other elements, both get the error, at each start. The
// communicator is fine.
func TestXPRT01_SidesThatDiffer(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		for _, x := range []struct {
			send, recv func() mpi.Request
			class      mpi.Class
			text       string
		}{
			{func() mpi.Request { return mpi.PsendInit(c, make([]int32, 12), 3, 1, 1) },
				func() mpi.Request { return mpi.PrecvInit(c, make([]int32, 10), 2, 0, 1) }, mpi.ErrTruncate,
				"rank 0 sends 48 bytes in 3 partitions, rank 1 receives 40 bytes in 2 partitions (MPI_ERR_TRUNCATE)"},
			{func() mpi.Request { return mpi.PsendInit(c, make([]int32, 12), 3, 1, 1) },
				func() mpi.Request { return mpi.PrecvInit(c, make([]int32, 14), 2, 0, 1) }, mpi.ErrCount,
				"rank 0 sends 48 bytes in 3 partitions, rank 1 receives 56 bytes in 2 partitions (MPI_ERR_COUNT)"},
			{func() mpi.Request { return mpi.PsendInit(c, make([]int32, 12), 3, 1, 1) },
				func() mpi.Request { return mpi.PrecvInit(c, make([]float32, 12), 2, 0, 1) }, mpi.ErrType,
				"rank 0 sends 12 x MPI_INT32_T, rank 1 receives 12 x MPI_FLOAT (MPI_ERR_TYPE)"},
		} {
			for _, first := range []int{0, 1} { // who makes the request first
				var r mpi.Request
				dir, name, init := " from 0", "PrecvInit", x.recv
				if c.Rank() == 0 {
					dir, name, init = " to 1", "PsendInit", x.send
				}
				if c.Rank() == first {
					r = init()
				}
				ok(t, c.Barrier())
				if c.Rank() != first {
					r = init()
				}
				for range 2 {
					ok(t, r.Start())
					_, err := r.Wait()
					wantClass(t, err, x.class)
					if want := "mpi: " + name + " on world" + dir + " tag 1: " + x.text; err.Error() != want {
						t.Errorf("the error is\n\t%v\nwant\n\t%s", err, want)
					}
				}
				if c.Rank() == 0 {
					wantClass(t, r.Pready(0), mpi.ErrRequest)
				}
				ok(t, r.Free())
			}
		}
		ok(t, c.Barrier())
	})
}

// F1: requests with a rank that dies end with ErrProcFailed, whether it dies before the match, before
// a start, or in the middle of a round.
func TestF1_PartitionedRequestsWithTheDeadFail(t *testing.T) {
	const parts = 32
	for _, x := range []struct {
		when string
		size int // of a partition of the sender
	}{{"before the match", 5000}, {"before the start", 5000}, {"in the middle", 5000}, {"in the middle", 20000}} { // the kernel copies the last ones
		when, size := x.when, x.size
		t.Run(fmt.Sprint(when, " ", size), func(t *testing.T) {
			defer testrun.Watch("TestF1_PartitionedRequestsWithTheDeadFail hangs")()
			make2 := func(c *mpi.Comm) (s, r mpi.Request) {
				peer := 1 - c.Rank()
				return mpi.PsendInit(c, make([]byte, parts*size), parts, peer, 0), mpi.PrecvInit(c, make([]byte, parts*size), 4, peer, 0)
			}
			onDeath(t, 2, func(t testing.TB, c *mpi.Comm) {
				if when == "before the match" {
					return
				}
				s, r := make2(c)
				ok(t, c.Barrier())
				if when == "in the middle" {
					ok(t, s.Start())
					ok(t, r.Start())
					ok(t, s.PreadyRange(0, parts/2))
				}
			}, func(t testing.TB, c *mpi.Comm) {
				s, r := make2(c)
				if when != "before the match" {
					ok(t, c.Barrier())
				}
				ok(t, s.Start())
				ok(t, r.Start())
				var wg sync.WaitGroup
				for w := range 4 {
					wg.Go(func() {
						for i := w; i < parts; i += 4 {
							if err := s.Pready(i); err != nil && !errors.Is(err, mpi.ErrRequest) {
								t.Error(err)
							}
						}
					})
				}
				for {
					there, err := r.Parrived(3)
					if err != nil {
						wantClass(t, err, mpi.ErrProcFailed)
						break
					}
					if there {
						t.Error("a partition that was not sent has arrived")
						break
					}
				}
				_, err := r.Wait()
				wantClass(t, err, mpi.ErrProcFailed)
				if when == "in the middle" {
					s.Wait() // it may have completed before the death
				} else {
					_, err = s.Wait()
					if err == nil {
						t.Error("a send to the dead has completed")
					}
				}
				wg.Wait()
				ok(t, r.Start())
				_, err = r.Wait()
				wantClass(t, err, mpi.ErrProcFailed)
				ok(t, r.Free())
				ok(t, s.Free())
			})
		})
	}
}
