package mpi_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Exclusive locks separate the updates of all ranks, including those that the owner of the
// memory makes by loads and stores (RS-03); several ranks can hold shared locks at the same
// time. This holds for memory of every kind, including the heap (X-RMA-13, MEM-07, E2-24).
func TestRS03_Locks(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		k := rounds(100)
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			for range k {
				ok(t, s.Lock(mpi.LockExclusive, 0, 0))
				if c.Rank() == 0 {
					s.mem[0]++
				} else {
					v := []int64{0}
					ok(t, s.Get(v, 0, s.at(0, 0)))
					ok(t, s.FlushLocal(0))
					v[0]++
					ok(t, s.Put(v, 0, s.at(0, 0)))
				}
				ok(t, s.Unlock(0))
			}
			ok(t, c.Barrier())
			if c.Rank() == 0 && s.mem[0] != int64(k*c.Size()) {
				t.Errorf("count %d, want %d", s.mem[0], k*c.Size())
			}
			// All ranks hold a shared lock at the same time, since each waits for the others.
			ok(t, s.Lock(mpi.LockShared, 0, 0))
			ok(t, c.Barrier())
			ok(t, s.Unlock(0))
			ok(t, s.LockAll(0))
			ok(t, c.Barrier())
			ok(t, s.UnlockAll())
		})
	})
}

// While one rank holds an exclusive lock no other rank gets a lock of either type.
func TestRS03_ExclusiveShutsOthersOut(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			for _, ask := range []func() error{
				func() error { return s.Lock(mpi.LockExclusive, 2, 0) },
				func() error { return s.Lock(mpi.LockShared, 2, 0) },
				nil,
			} {
				ok(t, c.Barrier())
				switch c.Rank() {
				case 1:
					ok(t, s.hold(mpi.LockExclusive, 2))
					ok(t, mpi.Send(c, []byte{0}, 3, 0))
					ok(t, s.Put([]int64{1}, 2, s.at(2, 0)))
					ok(t, s.Flush(2))
					time.Sleep(2 * time.Millisecond) // so that a rank that wrongly gets the lock does so now
					ok(t, s.Put([]int64{2}, 2, s.at(2, 0)))
					ok(t, s.Unlock(2))
				case 3:
					ok(t, second(mpi.Recv(c, []byte{0}, 1, 0)))
					all := ask == nil
					if all {
						ask = func() error { return s.LockAll(0) }
					}
					ok(t, ask())
					v := []int64{0}
					ok(t, s.Get(v, 2, s.at(2, 0)))
					ok(t, s.Flush(2))
					if v[0] != 2 {
						t.Errorf("with the lock %d is read, which is in the middle of who held it", v[0])
					}
					if all {
						ok(t, s.UnlockAll())
					} else {
						ok(t, s.Unlock(2))
					}
				}
			}
			ok(t, c.Barrier())
		})
	})
}

// After Flush the target finds the data, as a message tells it; after FlushLocal the program may
// reuse the buffer, but not before (RC-09). The same holds for FlushAll and FlushLocalAll, and
// for operations that other goroutines have started.
func TestRS06_Flush(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const long = 20_000 // elements
		onSpaces(t, c, long, func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			switch c.Rank() {
			case 1:
				buf, other := make([]int64, long/2), make([]int64, long/2)
				for round := range int64(10) {
					for i := range buf {
						buf[i], other[i] = round, round
					}
					done := make(chan error)
					go func() { done <- s.Put(other, 0, s.at(0, long/2)) }()
					ok(t, s.Put(buf, 0, s.at(0, 0)))
					ok(t, <-done)
					if round%2 == 0 {
						ok(t, s.FlushLocal(0))
						clear(buf) // the program may write to it again
						ok(t, s.Flush(0))
					} else {
						ok(t, s.FlushLocalAll())
						clear(other)
						ok(t, s.FlushAll())
					}
					ok(t, mpi.Send(c, []int64{round}, 0, 0))
					ok(t, second(mpi.Recv(c, []int64{0}, 0, 0)))
				}
			case 0:
				for round := range int64(10) {
					ok(t, second(mpi.Recv(c, []int64{0}, 1, 0)))
					ok(t, s.Sync())
					for i, v := range s.mem {
						if v != round {
							t.Fatalf("round %d: element %d is %d", round, i, v)
						}
					}
					ok(t, mpi.Send(c, []int64{0}, 1, 0))
				}
			}
			ok(t, s.UnlockAll())
		})
	})
}

// The target only computes, on all its cores, while others call lock, put, get, accumulate,
// flush and unlock: these return nevertheless, on allocated and dynamic windows alike (RS-07,
// RS-08, RC-08, QV-43).
func TestRS07_RS08_TheTargetTakesNoPart(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 4, func(t testing.TB, s *space[int64]) {
			ok(t, c.Barrier())
			if c.Rank() == 0 {
				// It computes until the others have changed its memory without its help.
				flag := (*atomic.Int64)(pointerTo(&s.mem[0]))
				deadline := time.Now().Add(testrun.Long)
				for flag.Load() != int64(3*(c.Size()-1)) {
					if time.Now().After(deadline) {
						t.Fatalf("the flag is still %d", flag.Load())
					}
				}
				return
			}
			two, was := int64(2), int64(0)
			for _, typ := range []mpi.LockType{mpi.LockShared, mpi.LockExclusive} {
				ok(t, s.Lock(typ, 0, 0))
				mine := s.at(0, c.Rank())
				ok(t, s.Put([]int64{int64(c.Rank())}, 0, mine))
				ok(t, s.Flush(0))
				got := []int64{0}
				ok(t, s.Get(got, 0, mine))
				ok(t, s.Flush(0))
				if got[0] != int64(c.Rank()) {
					t.Errorf("got %d", got[0])
				}
				if typ == mpi.LockShared {
					ok(t, s.Accumulate([]int64{1}, 0, s.at(0, 0), mpi.Sum))
				} else {
					ok(t, s.FetchAndOp(&two, &was, 0, s.at(0, 0), mpi.Sum))
				}
				ok(t, s.Unlock(0))
			}
		})
	})
}

// A rank that synchronises after a barrier sees the stores into shared memory.
func TestXRMA05_Sync(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		s := newSpace[int64](t, c, "shared", 8, nil)
		if s == nil {
			return
		}
		peer, err := s.Shared(1 - c.Rank())
		ok(t, err)
		ok(t, s.LockAll(0))
		for round := range int64(rounds(300)) {
			s.mem[round%8] = round + 1
			ok(t, s.Sync())
			ok(t, c.Barrier())
			ok(t, s.Sync())
			if peer[round%8] != round+1 {
				t.Fatalf("round %d: %d", round, peer[round%8])
			}
			ok(t, c.Barrier())
		}
		ok(t, s.UnlockAll())
		wantClass(t, s.Sync(), mpi.ErrRMASync)
		s.free(t, c)
	})
}
