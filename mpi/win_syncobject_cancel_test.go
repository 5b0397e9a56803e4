package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// SYN-29, E0-23: MPI_CANCEL of a request of a synchronisation object is ErrRequest, whether the
// request is inactive, active or complete, and changes nothing. An active one completes later, by
// as many signals as without it, and is not reported as cancelled; that of the origin signals once,
// behind its operations. Both can be started again.
func TestSYN29_CancelLeavesTheRequestAsItIs(t *testing.T) {
	const size, count = 5000, 2 // several frames
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		to, from := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, size, func(t testing.TB, s *space[int64]) {
			all := syncs(t, c, s.Window)
			for _, restart := range []string{"false", "true"} {
				hint := infoOf(t, "restart", restart)
				come := s.SyncObjectInit(all[me], count, hint)
				puts := s.SyncOpsInit(to, mpi.ModeWinPut, all[to], hint)
				bare := s.SyncOpsInit(to, 0, all[to])
				cancel := func(q *mpi.Request) {
					t.Helper()
					refused(t, q.Cancel(), mpi.ErrRequest, "cannot be cancelled")
				}
				complete := func(q *mpi.Request) {
					t.Helper()
					status, err := q.Wait()
					ok(t, err)
					if status.Cancelled() {
						t.Error("a request that cannot be cancelled is reported as cancelled")
					}
					cancel(q) // inactive, or started again by itself
				}
				for _, q := range []*mpi.Request{&come, &puts, &bare} {
					cancel(q) // not started yet
				}
				ok(t, s.LockAll(mpi.ModeNoCheck))
				for round := range int64(3) {
					if round == 0 || restart == "false" {
						ok(t, come.Start())
						ok(t, puts.Start())
					}
					cancel(&come)
					cancel(&puts)
					data := make([]int64, size)
					for i := range data {
						data[i] = 100*round + int64(10*me+i)
					}
					ok(t, s.Put(data, to, s.at(to, 0)))
					cancel(&puts)
					complete(&puts)
					ok(t, c.Barrier())
					if tested(t, &come) {
						t.Fatal("complete with one signal of two")
					}
					cancel(&come)
					ok(t, c.Barrier())
					ok(t, bare.Start())
					complete(&bare)
					complete(&come)
					for i, v := range s.mem {
						if want := 100*round + int64(10*from+i); v != want {
							t.Fatalf("round %d: element %d is %d, want %d", round, i, v, want)
						}
					}
					ok(t, c.Barrier())
				}
				ok(t, s.UnlockAll())
				// No cancelled request has signalled: another one is at the beginning of its count.
				ok(t, come.Free())
				ok(t, puts.Free())
				ok(t, bare.Free())
				ok(t, c.Barrier())
				rest := startedSync(t, s.SyncObjectInit(all[me], 1))
				if tested(t, rest) {
					t.Error("there is a signal too many")
				}
				ok(t, rest.Free())
				ok(t, c.Barrier())
			}
		})
	})
}
