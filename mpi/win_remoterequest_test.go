package mpi_test

import (
	"slices"
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// QV-36: when the request is complete, the target has the data, without any flush, and the
// results of fetching are here: long and short, on every kind of window, together with other
// requests.
func TestQV36_RequestsTellOfTheTarget(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const most = 60_000
		me, n := c.Rank(), c.Size()
		right, left := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, 3*most+2, func(t testing.TB, s *space[int64]) {
			for _, size := range []int{1, 300, most} {
				out, in := make([]int64, size), make([]int64, size)
				for i := range out {
					out[i] = int64(100*me + i + 1)
				}
				one, was, next, zero, old := int64(me+1), int64(-1), int64(me+10), int64(0), int64(-1)
				ok(t, s.LockAll(0))
				rs := []mpi.Request{
					s.Rrput(out, right, s.at(right, 0)),
					s.Rraccumulate(out, right, s.at(right, most), mpi.Sum),
					s.RrgetAccumulate(out, in, right, s.at(right, 2*most), mpi.Replace),
					s.RfetchAndOp(&one, &was, right, s.at(right, 3*most), mpi.Sum),
					s.RcompareAndSwap(&next, &zero, &old, right, s.at(right, 3*most+1)),
				}
				ok(t, mpi.Waitall(rs, nil))
				ok(t, c.Barrier()) // the origin knows that it is complete, and tells
				for i := range size {
					if want := int64(100*left + i + 1); s.mem[i] != want || s.mem[most+i] != want || s.mem[2*most+i] != want || in[i] != 0 {
						t.Fatalf("size %d: there are %d, %d and %d, want %d; fetched was %d", size, s.mem[i], s.mem[most+i], s.mem[2*most+i], want, in[i])
					}
				}
				if s.mem[3*most] != int64(left+1) || s.mem[3*most+1] != int64(left+10) || was != 0 || old != 0 {
					t.Errorf("single elements are %v, fetched were %d and %d", s.mem[3*most:], was, old)
				}
				ok(t, s.UnlockAll())
				ok(t, c.Barrier())
				clear(s.mem)
				ok(t, c.Barrier())
			}
		})
	})
}

// A request for a flush is complete when the operations before it are; the program can wait for
// it together with others.
func TestQV36_RequestsForFlushes(t *testing.T) {
	onWindows(t, func(t testing.TB, c *mpi.Comm) {
		const size = 30_000
		me, n := c.Rank(), c.Size()
		right, left := (me+1)%n, (me+n-1)%n
		onSpaces(t, c, 2*size, func(t testing.TB, s *space[int64]) {
			out := slices.Repeat([]int64{int64(me + 1)}, size)
			d, err := s.Dup(pairs(t, "mpi_win_scope", "thread"))
			ok(t, err)
			ok(t, s.LockAll(0))
			ok(t, s.Put(out, right, s.at(right, 0)))
			ok(t, d.Put(out, right, s.at(right, size)))
			for _, rs := range [][]mpi.Request{{s.Rflush(right), d.Rflush(right)}, {s.RflushAll(), d.RflushAll()}, {s.Rflush(mpi.ProcNull)}} {
				ok(t, mpi.Waitall(rs, nil))
			}
			ok(t, c.Barrier())
			if s.mem[0] != int64(left+1) || s.mem[size-1] != s.mem[0] || s.mem[size] != s.mem[0] || s.mem[2*size-1] != s.mem[0] {
				t.Errorf("the memory begins with %d and %d", s.mem[0], s.mem[size])
			}
			ok(t, s.UnlockAll())
			ok(t, d.Free())
			ok(t, c.Barrier())
		})
	})
}

// The error of a request is returned by the wait for it, and nothing changes.
func TestQV36_WrongRequests(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		onSpaces(t, c, 2, func(t testing.TB, s *space[int64]) {
			one, old := int64(1), int64(0)
			all := func(target, disp int) []mpi.Request {
				return []mpi.Request{
					s.Rrput([]int64{1}, target, disp), s.Rraccumulate([]int64{1}, target, disp, mpi.Sum),
					s.RrgetAccumulate([]int64{1}, []int64{0}, target, disp, mpi.Sum),
					s.RfetchAndOp(&one, &old, target, disp, mpi.Sum), s.RcompareAndSwap(&one, &one, &old, target, disp),
				}
			}
			each := func(class mpi.Class, rs ...mpi.Request) {
				t.Helper()
				for i := range rs {
					_, err := rs[i].Wait()
					wantClass(t, err, class)
				}
			}
			each(mpi.ErrRMASync, all(1, s.at(1, 0))...)
			each(mpi.ErrRMASync, s.Rflush(1), s.RflushAll())
			ok(t, s.LockAll(0))
			each(mpi.ErrRank, all(2, 0)...)
			each(mpi.ErrRank, s.Rflush(2))
			if s.Flavor() != mpi.WinFlavorDynamic {
				each(mpi.ErrRMARange, all(1, 2)...)
				each(mpi.ErrDisp, all(1, -1)...)
			} else {
				each(mpi.ErrRMARange, all(1, s.at(1, 2))...)
			}
			each(mpi.ErrOp, s.Rraccumulate([]int64{1}, 1, s.at(1, 0), mpi.NoOp))
			each(mpi.ErrBuffer, s.RfetchAndOp(nil, &old, 1, s.at(1, 0), mpi.Sum), s.RcompareAndSwap(&one, nil, &old, 1, s.at(1, 0)))
			rs := all(mpi.ProcNull, 0)
			ok(t, mpi.Waitall(rs, nil))
			ok(t, s.FlushAll())
			ok(t, s.UnlockAll())
			ok(t, c.Barrier())
			if s.mem[0] != 0 || s.mem[1] != 0 {
				t.Errorf("the memory is %v", s.mem)
			}
		})
	})
}

// QV-12, QV-13, QV-37: listings 1, 2 and 6 of the paper: a put, and a counter that announces it,
// on a window with and without order; and a collective instead of the counter.
func TestQV12_QV13_QV37_Listings(t *testing.T) {
	mpitest.Run(t, 2, func(t testing.TB, c *mpi.Comm) {
		until := func(q mpi.Request) {
			for done := false; !done; {
				var err error
				_, done, err = q.Test()
				ok(t, err)
			}
		}
		for _, listing := range []int{1, 2, 6} {
			info := pairs(t)
			if listing == 2 {
				info = pairs(t, "mpi_win_order", "true")
			}
			for _, kind := range spaceKinds {
				const size = 3000
				s := newSpace[int64](labelled{t, kind}, c, kind, size+1, info)
				if s == nil {
					continue
				}
				ok(t, s.LockAll(0))
				data := slices.Repeat([]int64{7}, size)
				if c.Rank() == 0 {
					switch listing {
					case 1:
						until(s.Rput(data, 1, s.at(1, 1)))
						ok(t, s.Flush(1))
						until(s.Raccumulate([]int64{1}, 1, s.at(1, 0), mpi.Sum))
					case 2:
						ok(t, s.Put(data, 1, s.at(1, 1)))
						until(s.Raccumulate([]int64{1}, 1, s.at(1, 0), mpi.Sum))
					case 6:
						until(s.Rrput(data, 1, s.at(1, 1)))
					}
				}
				if listing == 6 {
					_, err := mpi.AllreduceOne(c, 1, mpi.Sum)
					ok(t, err)
				} else if c.Rank() == 1 {
					for count := int64(0); count == 0; {
						ok(t, s.FetchAndOp(nil, &count, 1, s.at(1, 0), mpi.NoOp))
						ok(t, s.FlushLocal(1))
					}
				}
				if c.Rank() == 1 && !slices.Equal(s.mem[1:], data) {
					t.Errorf("listing %d, %s: the data is not there", listing, kind)
				}
				ok(t, s.UnlockAll())
				ok(t, c.Barrier())
				s.free(t, c)
			}
		}
	})
}
