package mpi_test

import (
	"context"
	"slices"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// Requests of windows are for the completion at the origin: the program may reuse the buffer of
// a put, and results are there. Every call that waits or tests accepts them, together with
// requests of messages and collectives.
func TestRC07_RequestsWithEveryCall(t *testing.T) {
	ways := []struct {
		name string
		wait func(t testing.TB, rs []mpi.Request) error
	}{
		{"Wait", func(t testing.TB, rs []mpi.Request) error {
			for i := range rs {
				if _, err := rs[i].Wait(); err != nil {
					return err
				}
			}
			return nil
		}},
		{"WaitContext", func(t testing.TB, rs []mpi.Request) error {
			for i := range rs {
				if _, err := rs[i].WaitContext(context.Background()); err != nil {
					return err
				}
			}
			return nil
		}},
		{"Test", func(t testing.TB, rs []mpi.Request) error {
			for i := range rs {
				for done := false; !done; {
					var err error
					_, done, err = rs[i].Test()
					if err != nil {
						return err
					}
				}
			}
			return nil
		}},
		{"GetStatus", func(t testing.TB, rs []mpi.Request) error {
			for i := range rs {
				for done := false; !done; {
					var err error
					_, done, err = rs[i].GetStatus()
					if err != nil {
						return err
					}
				}
			}
			return mpi.Waitall(rs, nil)
		}},
		{"Waitall", func(t testing.TB, rs []mpi.Request) error { return mpi.Waitall(rs, make([]mpi.Status, len(rs))) }},
		{"Testall", func(t testing.TB, rs []mpi.Request) error {
			for {
				if done, err := mpi.Testall(rs, nil); done || err != nil {
					return err
				}
			}
		}},
		{"Waitany", func(t testing.TB, rs []mpi.Request) error {
			for range rs {
				if _, _, err := mpi.Waitany(rs); err != nil {
					return err
				}
			}
			return nil
		}},
		{"Waitsome", func(t testing.TB, rs []mpi.Request) error {
			idx := make([]int, len(rs))
			for left := len(rs); left > 0; {
				n, err := mpi.Waitsome(rs, idx, nil)
				if err != nil {
					return err
				}
				left -= n
			}
			return nil
		}},
	}
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		me, n := c.Rank(), c.Size()
		next, before := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, 40, func(t testing.TB, s *space[int64]) {
			for _, way := range ways {
				name := way.name
				t := labelled{t, name}
				clear(s.mem)
				s.mem[29], s.mem[30] = int64(me), int64(me)
				ok(t, c.Barrier())
				ok(t, s.LockAll(0))
				out, in, got, old, sum := slices.Repeat([]int64{int64(me)}, 20), []int64{-1}, []int64{-1}, []int64{-1}, []int64{1}
				add := slices.Repeat([]int64{1}, 5)
				rs := []mpi.Request{
					mpi.Irecv(c, in, before, 7),
					s.Rput(out, next, s.at(next, 0)),
					s.Rget(got, next, s.at(next, 29)),
					{},
					s.Raccumulate(add, next, s.at(next, 31), mpi.Sum),
					s.RgetAccumulate([]int64{5}, old, next, s.at(next, 30), mpi.Sum),
					mpi.Iallreduce(c, sum, sum, mpi.Sum),
					mpi.Isend(c, out[:1], next, 7),
				}
				if name == "Waitany" || name == "Waitsome" {
					rs = slices.Delete(rs, 3, 4) // which would never complete
				}
				ok(t, way.wait(t, rs))
				for i := range rs {
					if !rs[i].IsNull() {
						t.Errorf("request %d is not null", i)
					}
				}
				if got[0] != int64(next) || old[0] != int64(next) || in[0] != int64(before) || sum[0] != int64(n) {
					t.Errorf("got %d and %d, want %d; received %d, sum %d", got[0], old[0], next, in[0], sum[0])
				}
				for i := range out {
					out[i] = -1 // the program may write to it again
				}
				clear(add)
				ok(t, s.FlushAll())
				ok(t, s.UnlockAll())
				ok(t, c.Barrier())
				for i, v := range s.mem {
					want := int64(0)
					switch {
					case i < 20:
						want = int64(before)
					case i == 29:
						want = int64(me)
					case i == 30:
						want = int64(me + 5)
					case i > 30 && i < 36:
						want = 1
					}
					if v != want {
						t.Fatalf("memory is %v", s.mem)
					}
				}
				ok(t, c.Barrier())
			}
		})
	})
}

// Requests of calls with Buffers and derived types on both sides.
func TestRC07_RequestsOfBuffers(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		int32s := typeOf[int32]()
		every2nd := typ(t)(mpi.TypeVector(10, 1, 2, int32s))
		every3rd := typ(t)(mpi.TypeVector(5, 2, 6, int32s))
		next := (c.Rank() + 1) % c.Size()
		onSpaces(t, c, 40, func(t testing.TB, s *space[int32]) {
			at := int64(s.at(next, 0))
			out, back, old, ones := make([]int32, 20), make([]int32, 20), make([]int32, 20), make([]int32, 20)
			for i := range out {
				out[i], ones[i] = int32(i), 1
			}
			ok(t, s.LockAll(0))
			q := s.Untyped().Rput(mpi.BufOf(out, 1, every2nd), next, at, 1, every3rd)
			ok(t, second(q.Wait()))
			ok(t, s.Flush(next))
			q = s.Untyped().Raccumulate(mpi.BufOf(ones, 1, every2nd), next, at, 1, every3rd, mpi.Sum)
			ok(t, second(q.Wait()))
			ok(t, s.Flush(next))
			q = s.Untyped().RgetAccumulate(mpi.BufOf(ones, 1, every2nd), mpi.BufOf(old, 1, every2nd), next, at, 1, every3rd, mpi.Prod)
			ok(t, second(q.Wait()))
			ok(t, s.Flush(next))
			q = s.Untyped().Rget(mpi.BufOf(back, 1, every2nd), next, at, 1, every3rd)
			ok(t, second(q.Wait()))
			ok(t, s.UnlockAll())
			for i := range back {
				want := int32(0)
				if i%2 == 0 {
					want = int32(i + 1)
				}
				if back[i] != want || old[i] != want {
					t.Fatalf("got %v and %v", back, old)
				}
			}
		})
	})
}

// They can neither be cancelled nor freed, and copies are stale after a wait.
func TestRC07_CancelAndFree(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 1, func(t testing.TB, s *space[int64]) {
			ok(t, s.LockAll(0))
			q := s.Rput([]int64{1}, 1-c.Rank(), s.at(1-c.Rank(), 0))
			wantText(t, q.Cancel(), mpi.ErrRequest, "Rput")
			wantText(t, q.Free(), mpi.ErrRequest, "Rput")
			stale := q
			st, err := q.Wait()
			ok(t, err)
			if !q.IsNull() || st.Bytes() != 0 {
				t.Errorf("status %+v", st)
			}
			wantText(t, second(stale.Wait()), mpi.ErrRequest, "stale")
			ok(t, s.UnlockAll())
		})
	})
}

// A program may have any number of requests to one rank: the origin queues them.
func TestRC07_ManyRequests(t *testing.T) {
	many := 100_000
	if testrun.Race {
		many = 5000
	}
	for _, fabric := range []string{"inproc", "tcp"} { // by this process and by the kernel, and by frames
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 2, func(t testing.TB, c *mpi.Comm) {
				s := newSpace[int64](t, c, "create", many, nil)
				for i := range s.mem {
					s.mem[i] = int64(i)
				}
				ok(t, c.Barrier())
				ok(t, s.LockAll(0))
				got, rs := make([]int64, many), make([]mpi.Request, many)
				if c.Rank() == 0 {
					for i := range rs {
						if i%2 == 0 {
							rs[i] = s.Rget(got[i:i+1], 1, i)
						} else {
							rs[i] = s.RgetAccumulate([]int64{1}, got[i:i+1], 1, i, mpi.Sum)
						}
					}
					ok(t, mpi.Waitall(rs, nil))
					for i, v := range got {
						if v != int64(i) {
							t.Fatalf("element %d is %d", i, v)
						}
					}
				}
				ok(t, s.UnlockAll())
				ok(t, c.Barrier())
				for i, v := range s.mem {
					if c.Rank() == 1 && v != int64(i+i%2) {
						t.Fatalf("element %d is %d at the target", i, v)
					}
				}
				s.free(t, c)
			})
		})
	}
}
