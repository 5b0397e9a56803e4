package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Accesses, flushes, locks and fences allocate nothing after the first ones, on every path.
func TestOneSidedCallsAllocateNothing(t *testing.T) {
	unchecked(t)
	testrun.PlainOnly(t, "it allocates")
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		int64s := typeOf[int64]()
		every2nd := typ(t)(mpi.TypeVector(8, 1, 2, int64s))
		peer := 1 - c.Rank()
		onSpaces(t, c, 64, func(t testing.TB, s *space[int64]) {
			at := s.at(peer, 0)
			buf, long, old := make([]int64, 1), make([]int64, 30), make([]int64, 30)
			one, was, zero := new(int64), new(int64), new(int64)
			spread := make([]int64, 16)
			var failed error
			do := func(err error) {
				if err != nil && failed == nil {
					failed = err
				}
			}
			type step struct {
				name string
				do   func()
			}
			steps := []step{
				{"Put and Flush", func() { do(s.Put(buf, peer, at)); do(s.Flush(peer)) }},
				{"Get and Flush", func() { do(s.Get(buf, peer, at)); do(s.FlushLocal(peer)) }},
				{"long Put", func() { do(s.Put(long, peer, at)); do(s.FlushAll()) }},
				{"Accumulate", func() { do(s.Accumulate(buf, peer, at, mpi.Sum)); do(s.Flush(peer)) }},
				{"long", func() { do(s.Accumulate(long, peer, at, mpi.Sum)); do(s.Flush(peer)) }},
				{"GetAccumulate", func() { do(s.GetAccumulate(long, old, peer, at, mpi.Max)); do(s.Flush(peer)) }},
				{"FetchAndOp", func() { do(s.FetchAndOp(one, was, peer, at, mpi.Sum)); do(s.Flush(peer)) }},
				{"CompareAndSwap", func() { do(s.CompareAndSwap(one, zero, was, peer, at)); do(s.Flush(peer)) }},
				{"FetchOp", func() { do(second(s.FetchOp(1, peer, at, mpi.Sum))) }},
				{"CompareSwap", func() { do(second(s.CompareSwap(1, 0, peer, at))) }},
				{"Rput", func() {
					r := s.Rput(buf, peer, at)
					do(second(r.Wait()))
					do(s.Flush(peer))
				}},
				{"Put of a layout", func() {
					do(s.Untyped().Put(mpi.BufOf(spread, 1, every2nd), peer, int64(at), 1, every2nd))
					do(s.Flush(peer))
				}},
				{"Accumulate of a layout", func() {
					do(s.Untyped().Accumulate(mpi.BufOf(spread, 1, every2nd), peer, int64(at), 1, every2nd, mpi.Sum))
					do(s.Flush(peer))
				}},
			}
			ok(t, s.LockAll(0))
			for _, x := range steps {
				allocatesNothing(t, c, x.name, 50, x.do)
			}
			ok(t, s.UnlockAll())
			for _, x := range []step{
				{"Lock", func() {
					do(s.Lock(mpi.LockExclusive, peer, 0))
					do(s.Put(buf, peer, at))
					do(s.Unlock(peer))
				}},
				{"Fence", func() { do(s.Fence(0)); do(s.Put(buf, peer, at)); do(s.Fence(0)) }},
				{"Post and Start", func() {
					do(s.Post(all, 0))
					do(s.Start(all, 0))
					do(s.Put(buf, peer, at))
					do(s.Complete())
					do(s.Win.Wait())
				}},
			} {
				allocatesNothing(t, c, x.name, 50, x.do)
			}
			ok(t, failed)
		})
	})
}
