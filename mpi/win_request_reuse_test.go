package mpi_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// The requests of two operations at a time are different ones. A copy is stale after the wait, also
// when a later operation uses the same request. What GetStatus has reported allows Free of that
// operation's request, not of the next one's.
func TestRC07_ReusedRequests(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			put := func() mpi.Request {
				ok(t, s.Flush(peer)) // of two puts to one place
				return s.Rput([]int64{4}, peer, s.at(peer, 0))
			}
			wantStale := func(q mpi.Request) {
				t.Helper()
				wantText(t, second(q.Wait()), mpi.ErrRequest, "stale")
				_, _, err := q.Test()
				wantText(t, err, mpi.ErrRequest, "stale")
				_, _, err = q.GetStatus()
				wantText(t, err, mpi.ErrRequest, "stale")
				wantText(t, q.Free(), mpi.ErrRequest, "stale")
			}
			for range 3 {
				p, g := put(), s.Rget(make([]int64, 1), peer, s.at(peer, 1))
				oldPut, oldGet := p, g
				ok(t, second(p.Wait()))
				wantStale(oldPut)
				p = put()
				ok(t, second(g.Wait()))
				wantStale(oldGet)
				wantStale(oldPut)
				ok(t, second(p.Wait()))
			}
			for range 2 {
				q := put()
				wantText(t, q.Free(), mpi.ErrRequest, "active")
				for done := false; !done; {
					var err error
					_, done, err = q.GetStatus()
					ok(t, err)
				}
				old := q
				ok(t, q.Free())
				if !q.IsNull() {
					t.Error("a freed request is not null")
				}
				wantStale(old)
			}
			ok(t, s.UnlockAll())
		})
	})
}

// Of two goroutines that complete copies of one request, one succeeds.
func TestRC07_TwoCompleteOneRequest(t *testing.T) {
	ways := []func(q mpi.Request) error{
		func(q mpi.Request) error { return second(q.Wait()) },
		func(q mpi.Request) error {
			for {
				if _, done, err := q.Test(); done || err != nil {
					return err
				}
			}
		},
		func(q mpi.Request) error {
			_, _, err := mpi.Waitany([]mpi.Request{q})
			return err
		},
	}
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		peer := 1 - c.Rank()
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			for i := range rounds(500) {
				ok(t, s.Flush(peer)) // of two puts to one place
				q := s.Rput([]int64{4}, peer, s.at(peer, 0))
				var failed [2]error
				var both sync.WaitGroup
				for k := range failed {
					both.Go(func() { failed[k] = ways[k*(i%len(ways))](q) })
				}
				both.Wait()
				if failed[0] != nil {
					failed[0], failed[1] = failed[1], failed[0]
				}
				ok(t, failed[0])
				if !errors.Is(failed[1], mpi.ErrRequest) {
					t.Fatalf("both complete the request in round %d: %v", i, failed[1])
				}
			}
			ok(t, s.UnlockAll())
		})
	})
}
