package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// The standard's examples about visibility. A is rank 0 and B is rank 1, X and Y are elements 0
// and 1 of a window. Halo's windows have the unified model, so that the rules of the separate
// model hold, too (X-RMA-07, RM-07): a value that may be obsolete may be old or new, but is
// never torn.

// visibility runs one of the examples many times on windows of every kind.
func visibility(t *testing.T, turns int, example func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64)) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			for turn := range int64(rounds(turns)) {
				example(t, c, s, turn+1)
				ok(t, c.Barrier())
			}
		})
	})
}

// get reads an element of a rank's memory under a lock.
func get(t testing.TB, s *space[int64], typ mpi.LockType, rank, i int) int64 {
	t.Helper()
	v := []int64{-1}
	ok(t, s.Lock(typ, rank, 0))
	ok(t, s.Get(v, rank, s.at(rank, i)))
	ok(t, s.Unlock(rank))
	return v[0]
}

// Example 11.11, rule 5 (E1-01, E1-05): B stores under a lock on itself; after a barrier A gets the value.
func TestRM01_XRMA07_StoreUnderLockThenGet(t *testing.T) {
	visibility(t, 150, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
		if c.Rank() == 1 {
			ok(t, s.Lock(mpi.LockExclusive, 1, 0))
			s.mem[0] = turn
			ok(t, s.Unlock(1))
		}
		ok(t, c.Barrier())
		if c.Rank() == 0 {
			if x := get(t, s, mpi.LockExclusive, 1, 0); x != turn {
				t.Fatalf("turn %d: X is %d", turn, x)
			}
		}
	})
}

// Example 11.12, rule 6 (E1-03): A puts under a lock; after a barrier B loads the value under a lock on
// itself. Without that lock an obsolete value is allowed.
func TestRM02_PutUnderLockThenLoad(t *testing.T) {
	visibility(t, 150, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
		if c.Rank() == 0 {
			ok(t, s.Lock(mpi.LockExclusive, 1, 0))
			ok(t, s.Put([]int64{turn}, 1, s.at(1, 0)))
			ok(t, s.Unlock(1))
		}
		ok(t, c.Barrier())
		if c.Rank() == 1 {
			if x := s.mem[0]; x != turn && x != turn-1 {
				t.Fatalf("turn %d: without a lock X is %d", turn, x)
			}
			ok(t, s.Lock(mpi.LockExclusive, 1, 0))
			x := s.mem[0]
			ok(t, s.Unlock(1))
			if x != turn {
				t.Fatalf("turn %d: X is %d", turn, x)
			}
		}
	})
}

// Example 11.13: B stores before its shared lock. A get of A before B's unlock may return the
// old value; after it, it returns the new one.
func TestRM03_StoreBeforeSharedLock(t *testing.T) {
	visibility(t, 100, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
		if c.Rank() == 1 {
			s.mem[0] = turn
			ok(t, s.Lock(mpi.LockShared, 1, 0))
		}
		ok(t, c.Barrier())
		if c.Rank() == 0 {
			if x := get(t, s, mpi.LockShared, 1, 0); x != turn && x != turn-1 {
				t.Fatalf("turn %d: before the unlock X is %d", turn, x)
			}
		}
		ok(t, c.Barrier())
		if c.Rank() == 1 {
			ok(t, s.Unlock(1))
		}
		ok(t, c.Barrier())
		if c.Rank() == 0 {
			if x := get(t, s, mpi.LockShared, 1, 0); x != turn {
				t.Fatalf("turn %d: after the unlock X is %d", turn, x)
			}
		}
	})
}

// Example 11.14 (E1-01): A stores before its Post; B gets the value, in its epoch and after it. A store
// of A during the exposure may be missed, but not a put of A to itself.
func TestRM04_StoreBeforeAndAfterPost(t *testing.T) {
	for _, put := range []bool{false, true} {
		visibility(t, 60, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
			all, err := c.Group()
			ok(t, err)
			both, err := all.Incl([]int{0, 1})
			ok(t, err)
			a, err := all.Incl([]int{0})
			ok(t, err)
			within := []int64{-1}
			if c.Rank() == 0 {
				s.mem[1] = turn
				ok(t, s.Post(both, 0))
			}
			if c.Rank() <= 1 {
				ok(t, s.Start(a, 0))
			}
			switch {
			case c.Rank() == 1:
				ok(t, s.Get(within, 0, s.at(0, 1)))
			case c.Rank() == 0 && put:
				ok(t, s.Put([]int64{turn}, 0, s.at(0, 0)))
			case c.Rank() == 0:
				s.mem[0] = turn
			}
			if c.Rank() <= 1 {
				ok(t, s.Complete())
			}
			if c.Rank() == 0 {
				ok(t, s.Win.Wait())
				if put && s.mem[0] != turn { // RM-06
					t.Fatalf("turn %d: after Wait X is %d here", turn, s.mem[0])
				}
			}
			ok(t, c.Barrier())
			if c.Rank() == 1 {
				x, y := get(t, s, mpi.LockExclusive, 0, 0), get(t, s, mpi.LockExclusive, 0, 1)
				if y != turn || within[0] != turn {
					t.Fatalf("turn %d: Y is %d, and was %d within the epoch", turn, y, within[0])
				}
				if x != turn && (put || x != turn-1) {
					t.Fatalf("turn %d: X is %d", turn, x)
				}
			}
		})
	}
}

// Example 11.15: a load in B's own epoch may miss A's put; a Get in that epoch, and a load after
// Wait, do not.
func TestRM05_LoadInsideAnEpoch(t *testing.T) {
	visibility(t, 100, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
		if c.Rank() == 0 {
			ok(t, s.Lock(mpi.LockExclusive, 1, 0))
			ok(t, s.Put([]int64{turn}, 1, s.at(1, 0)))
			ok(t, s.Unlock(1))
		}
		ok(t, c.Barrier())
		if c.Rank() != 1 {
			return
		}
		all, err := c.Group()
		ok(t, err)
		b, err := all.Incl([]int{1})
		ok(t, err)
		ok(t, s.Post(b, 0))
		ok(t, s.Start(b, 0))
		within, got := s.mem[0], []int64{-1}
		ok(t, s.Get(got, 1, s.at(1, 0)))
		ok(t, s.Complete())
		ok(t, s.Win.Wait())
		if within != turn && within != turn-1 || got[0] != turn || s.mem[0] != turn {
			t.Fatalf("turn %d: loaded %d within the epoch and %d after it, got %d", turn, within, s.mem[0], got[0])
		}
	})
}

// The data of a put to this process's own window is in memory after Wait, at the latest.
func TestRM06_PutToTheOwnWindow(t *testing.T) {
	visibility(t, 100, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
		all, err := c.Group()
		ok(t, err)
		self, err := all.Incl([]int{c.Rank()})
		ok(t, err)
		ok(t, s.Post(self, 0))
		ok(t, s.Start(self, 0))
		ok(t, s.Put([]int64{turn}, c.Rank(), s.at(c.Rank(), 0)))
		ok(t, s.Complete())
		ok(t, s.Win.Wait())
		if s.mem[0] != turn {
			t.Fatalf("turn %d: X is %d", turn, s.mem[0])
		}
	})
}

// The program of the section on registers: data that is put into a variable between two fences
// is there when the variable is read after the second one, as a slice and as a variable.
func TestRM08_NothingIsKeptInRegisters(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		var x int64
		buff := (*[1]int64)(pointerTo(&x))
		w, err := mpi.WinCreate(c, buff[:])
		ok(t, err)
		for turn := range int64(rounds(500)) {
			x = turn
			before := x
			ok(t, w.Fence(0))
			ok(t, w.Put([]int64{777 + turn}, (c.Rank()+1)%c.Size(), 0))
			ok(t, w.Fence(0))
			after := x
			if before != turn || after != 777+turn || buff[0] != after {
				t.Fatalf("turn %d: before %d, after %d", turn, before, after)
			}
		}
		ok(t, w.Free())
	})
}

// Store buffers: each of two ranks puts to the other, flushes, and then reads the element that
// the other puts to; at least one of them sees the put.
func TestXRMA07_PutFlushGetBothWays(t *testing.T) {
	visibility(t, 150, func(t testing.TB, c *mpi.Comm, s *space[int64], turn int64) {
		seen := []int64{0}
		if c.Rank() <= 1 {
			peer := 1 - c.Rank()
			ok(t, s.LockAll(0))
			ok(t, s.Accumulate([]int64{turn}, peer, s.at(peer, 0), mpi.Replace))
			ok(t, s.Flush(peer))
			ok(t, s.GetAccumulate(nil, seen, c.Rank(), s.at(c.Rank(), 0), mpi.NoOp))
			ok(t, s.Flush(c.Rank()))
			ok(t, s.UnlockAll())
		}
		all, err := mpi.AllgatherOne(c, seen[0])
		ok(t, err)
		if all[0] != turn && all[1] != turn {
			t.Fatalf("turn %d: both miss what the other has put: %v", turn, all)
		}
	})
}
