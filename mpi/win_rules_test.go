package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Rules 5 and 6 of the standard (E1-02): what the owner has stored is what others get, after each call of the owner that
// rule 5 names; what others have put is what the owner loads, after each call of it that rule 6 names. Elsewhere a
// message tells of the call.
func TestRM01_RM02_EveryCallOfTheRules(t *testing.T) {
	const owner, other = 0, 1
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		all, err := c.Group()
		ok(t, err)
		accessor, err := all.Incl([]int{other})
		ok(t, err)
		target, err := all.Incl([]int{owner})
		ok(t, err)
		me, value := c.Rank(), int64(0)
		only := func(rank int, err func() error) {
			if me == rank {
				ok(t, err())
			}
		}
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			store := func() {
				value++
				if me == owner {
					s.mem[0] = value
				}
			}
			gets := func(call string) {
				t.Helper()
				if me == other {
					if v := get(t, s, mpi.LockShared, owner, 0); v != value {
						t.Fatalf("after %s %d is got, want %d", call, v, value)
					}
				}
				ok(t, c.Barrier())
			}
			lock := func() error { return s.Lock(mpi.LockExclusive, owner, 0) }
			unlock := func() error { return s.Unlock(owner) }
			lockAll := func() error { return s.LockAll(0) }

			// rule 5
			store()
			got := []int64{-1}
			only(owner, func() error { return s.Post(accessor, 0) })
			if me == other {
				ok(t, s.Start(target, 0))
				ok(t, s.Get(got, owner, s.at(owner, 0)))
				ok(t, s.Complete())
				if got[0] != value {
					t.Fatalf("after Post %d is got, want %d", got[0], value)
				}
			}
			only(owner, s.Win.Wait)
			ok(t, s.Fence(0))
			store()
			ok(t, s.Fence(mpi.ModeNoSucceed))
			gets("Fence")
			only(owner, lock)
			store()
			only(owner, unlock)
			ok(t, c.Barrier())
			gets("Unlock")
			only(owner, lockAll)
			store()
			only(owner, s.UnlockAll)
			ok(t, c.Barrier())
			gets("UnlockAll")
			only(owner, lockAll)
			store()
			only(owner, s.Sync)
			ok(t, c.Barrier())
			gets("Sync")
			only(owner, s.UnlockAll)

			// rule 6
			put := func() {
				value++
				if me == other {
					ok(t, s.Put([]int64{value}, owner, s.at(owner, 0)))
				}
			}
			loads := func(call string) {
				t.Helper()
				if me == owner && s.mem[0] != value {
					t.Fatalf("after %s %d is loaded, want %d", call, s.mem[0], value)
				}
			}
			putLocked := func(typ mpi.LockType) {
				only(other, func() error { return s.Lock(typ, owner, 0) })
				put()
				only(other, unlock)
				ok(t, c.Barrier())
			}
			only(owner, func() error { return s.Post(accessor, 0) })
			only(other, func() error { return s.Start(target, 0) })
			put()
			only(other, s.Complete)
			only(owner, s.Win.Wait)
			loads("Wait")
			ok(t, c.Barrier())
			ok(t, s.Fence(0))
			put()
			ok(t, s.Fence(mpi.ModeNoSucceed))
			loads("Fence")
			ok(t, c.Barrier())
			putLocked(mpi.LockExclusive)
			only(owner, lock)
			loads("Lock")
			only(owner, unlock)
			ok(t, c.Barrier())
			putLocked(mpi.LockExclusive)
			only(owner, lockAll)
			loads("LockAll")
			ok(t, c.Barrier())
			putLocked(mpi.LockShared) // the owner is in its epoch
			only(owner, s.Sync)
			loads("Sync")
			only(owner, s.UnlockAll)
			ok(t, c.Barrier())
		})
	})
}
