package mpi_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
)

// parting is the last call of the last rank before it dies: all others know that it has reached
// it, and it knows that they do.
func parting(t testing.TB, c *mpi.Comm) {
	t.Helper()
	last := c.Size() - 1
	if c.Rank() != last {
		ok(t, second(mpi.Recv(c, []byte{0}, last, 0)))
		ok(t, mpi.Send(c, []byte{0}, last, 0))
		return
	}
	for r := range last {
		ok(t, mpi.Send(c, []byte{0}, r, 0))
		ok(t, second(mpi.Recv(c, []byte{0}, r, 0)))
	}
}

// When a member has died, calls that need it end with ErrProcFailed, on windows of every kind
// (F1): accesses, flushes, locks of its memory, fences and Free.
func TestF1_WindowsOfTheDead(t *testing.T) {
	const n = 3
	for _, kind := range spaceKinds {
		t.Run(kind, func(t *testing.T) {
			spaces := func(t testing.TB, c *mpi.Comm) *space[int64] { return newSpace[int64](t, c, kind, 10, nil) }
			onDeath(t, n, func(t testing.TB, c *mpi.Comm) {
				spaces(t, c)
				parting(t, c)
			}, func(t testing.TB, c *mpi.Comm) {
				s := spaces(t, c)
				parting(t, c)
				if s == nil {
					return
				}
				await := func(what string, call func() error) {
					t.Helper()
					for deadline := time.Now().Add(testrun.Long); ; {
						err := call()
						if errors.Is(err, mpi.ErrProcFailed) {
							return
						}
						if err != nil || time.Now().After(deadline) {
							t.Fatalf("%s: %v", what, err)
						}
					}
				}
				await("accesses under a lock", func() error {
					if err := s.Lock(mpi.LockShared, n-1, 0); err != nil {
						return err
					}
					put := s.Put([]int64{1}, n-1, s.at(n-1, c.Rank()))
					flush := s.Flush(n - 1)
					return errors.Join(put, flush, s.Unlock(n-1))
				})
				await("FetchOp under a lock", func() error {
					if err := s.Lock(mpi.LockShared, n-1, 0); err != nil {
						return err
					}
					was, err := s.FetchOp(1, n-1, s.at(n-1, c.Rank()), mpi.Sum)
					if err != nil && was != 0 {
						t.Errorf("FetchOp of a dead rank: %d, %v", was, err)
					}
					return errors.Join(err, s.Unlock(n-1))
				})
				ok(t, s.Lock(mpi.LockExclusive, 1, 0)) // other members are not affected
				ok(t, s.Accumulate([]int64{1}, 1, s.at(1, 0), mpi.Sum))
				ok(t, s.Unlock(1))
				peer := 1 - c.Rank() // the peer ends as soon as it is alone
				ok(t, second(mpi.Sendrecv(c, []byte{0}, peer, 0, []byte{0}, peer, 0)))
				await("Fence", func() error { return s.Fence(0) })
				await("Free", s.Free)
				wantClass(t, s.Free(), mpi.ErrWin) // the window is freed
			})
		})
	}
}

// A lock whose holder dies becomes available; one of the other members gets an error that names
// the dead process (F3), and the next one gets the lock.
func TestF3_LocksOfTheDead(t *testing.T) {
	const n = 3
	for _, kind := range spaceKinds {
		t.Run(kind, func(t *testing.T) {
			onDeath(t, n, func(t testing.TB, c *mpi.Comm) {
				if s := newSpace[int64](t, c, kind, 1, nil); s != nil {
					ok(t, s.hold(mpi.LockExclusive, 0))
				}
				parting(t, c)
			}, func(t testing.TB, c *mpi.Comm) {
				s := newSpace[int64](t, c, kind, 1, nil)
				parting(t, c)
				if s == nil {
					return
				}
				err := s.hold(mpi.LockExclusive, 0)
				if err != nil {
					wantClass(t, err, mpi.ErrProcFailed)
					if !strings.Contains(err.Error(), "rank 2") {
						t.Errorf("which rank has died: %v", err)
					}
					ok(t, s.Lock(mpi.LockExclusive, 0, 0))
				}
				ok(t, s.Accumulate([]int64{1}, 0, s.at(0, 0), mpi.Sum))
				ok(t, s.Unlock(0))
				if c.Rank() == 1 { // one of the two got the error
					ok(t, mpi.Send(c, []bool{err != nil}, 0, 0))
					ok(t, second(mpi.Recv(c, []byte{0}, 0, 0)))
					return
				}
				told := []bool{false}
				ok(t, second(mpi.Recv(c, told, 1, 0)))
				if told[0] == (err != nil) {
					t.Errorf("told of the death: rank 1 %v, rank 0 %v", told[0], err)
				}
				if s.mem[0] != 2 {
					t.Errorf("memory %v", s.mem)
				}
				ok(t, mpi.Send(c, []byte{0}, 1, 0))
			})
		})
	}
}
