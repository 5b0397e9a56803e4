package mpi_test

import (
	"bytes"
	"testing"

	"github.com/halo-mpi/halo/internal/testrun"
	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// RC-09: if the program stores to memory that is being fetched into, the call that completes the
// operation reports it. Gaps between the elements of a layout belong to the program.
func TestRC09_ResultsAreStoredTo(t *testing.T) {
	early := func(p *plot, store func()) {
		if p.bad {
			store()
		}
	}
	flushed := func(get func(p *plot, b []int64) error) func(p *plot) {
		return reuse(func(p *plot) {
			b := make([]int64, 2)
			p.ok(get(p, b))
			early(p, func() { b[1] = 3 })
			p.last(p.note(p.Flush(1)), "bytes 32 to ", "of rank 1", "have been stored to before Flush at")
			b[1] = 3
		})
	}
	runPlanted(t, []planted{
		{"get, store, flush", mpi.ErrRMAConflict, "", flushed(func(p *plot, b []int64) error { return p.note(p.Get(b, 1, 4)) })},
		{"get, store, flush", mpi.ErrRMAConflict, "create", flushed(func(p *plot, b []int64) error { return p.note(p.Get(b, 1, 4)) })},
		{"get_accumulate, store, flush", mpi.ErrRMAConflict, "", flushed(func(p *plot, b []int64) error {
			return p.note(p.GetAccumulate(make([]int64, 2), b, 1, 4, mpi.Sum))
		})},
		{"fetch_and_op, store, flush", mpi.ErrRMAConflict, "create", flushed(func(p *plot, b []int64) error {
			return p.note(p.FetchAndOp(new(int64), &b[1], 1, 4, mpi.Sum))
		})},
		{"compare_and_swap, store, flush", mpi.ErrRMAConflict, "", flushed(func(p *plot, b []int64) error {
			return p.note(p.CompareAndSwap(new(int64), new(int64), &b[1], 1, 4))
		})},
		{"get, store, unlock_all", mpi.ErrRMAConflict, "", func(p *plot) {
			b := make([]int64, 1)
			p.ok(p.LockAll(0))
			if p.is(0) {
				p.ok(p.note(p.Get(b, 1, 4)))
				early(p, func() { b[0] = 3 })
				p.last(p.note(p.UnlockAll()), "the 8 bytes here", "before UnlockAll at")
			} else {
				p.ok(p.UnlockAll())
			}
		}},
		{"get of a column, store, flush_local_all", mpi.ErrRMAConflict, "create", reuse(func(p *plot) {
			b, long := make([]int64, 16), columnOf(p)
			p.ok(p.note(p.Untyped().Get(mpi.BufOf(b, 1, long), 1, 0, 1, long)))
			b[1] = 5 // between the elements
			early(p, func() { b[12] = 5 })
			p.last(p.note(p.FlushLocalAll()), "the 32 bytes here")
		})},
		{"rget, store, wait", mpi.ErrRMAConflict, "", reuse(func(p *plot) {
			b := []int64{1}
			q := p.begun(p.Rget(b, 1, 4))
			early(p, func() { b[0] = 2 })
			p.last(p.note(second(q.Wait())), "the 8 bytes here", "before the wait at")
		})},
		{"get, store, fence", mpi.ErrRMAConflict, "create", func(p *plot) {
			b := []int64{1}
			p.ok(p.Fence(0))
			if p.is(0) {
				p.ok(p.note(p.Get(b, 1, 4)))
			}
			early(p, func() { b[0] = 3 })
			if p.is(0) {
				p.last(p.note(p.Fence(0)), "before Fence at")
			} else {
				p.ok(p.Fence(0))
			}
		}},
		{"get, store, complete", mpi.ErrRMAConflict, "", func(p *plot) {
			b := []int64{1}
			if p.is(0) {
				p.ok(p.Start(p.group(1), 0))
				p.ok(p.note(p.Get(b, 1, 4)))
				early(p, func() { b[0] = 3 })
			}
			p.meet() // no rank posts before that
			if p.is(1) {
				p.ok(p.Post(p.group(0), 0))
				p.ok(p.Win.Wait())
			}
			if p.is(0) {
				p.last(p.note(p.Complete()), "before Complete at")
			}
		}},
	})
}

// In checking mode results are there when the operation is complete, and not before, whichever
// call completes it; memory that is not fetched into does not change.
func TestRC09_ResultsComeWithCompletion(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	nothing := bytes.Repeat([]byte{0xdb}, 3)
	for _, fabric := range testrun.Fabrics("inproc", "shm", "tcp", "inproc@010", "shm@010") {
		t.Run(fabric, func(t *testing.T) {
			mpitest.On(t, fabric, 3, func(t testing.TB, c *mpi.Comm) {
				w, err := mpi.WinAllocate[byte](c, 8)
				ok(t, err)
				defer func() { ok(t, w.Free()) }()
				copy(w.Local(), []byte{1, 2, 3, 4, 5, 6, 7, 8})
				ok(t, c.Barrier())
				ok(t, w.LockAll(0))
				for _, x := range []struct {
					name     string
					complete func(q *mpi.Request) error
				}{
					{"flush", func(*mpi.Request) error { return w.Flush(1) }},
					{"flush_all", func(*mpi.Request) error { return w.FlushAll() }},
					{"flush_local", func(*mpi.Request) error { return w.FlushLocal(1) }},
					{"rflush", func(*mpi.Request) error { f := w.Rflush(1); return second(f.Wait()) }},
					{"wait", func(q *mpi.Request) error { return second(q.Wait()) }},
					{"waitall", func(q *mpi.Request) error {
						all := []mpi.Request{*q, {}}
						err := mpi.Waitall(all, nil)
						*q = mpi.Request{}
						return err
					}},
					{"get_status", func(q *mpi.Request) error {
						for {
							if _, done, err := q.GetStatus(); done || err != nil {
								return err
							}
						}
					}},
					{"unlock_all", func(*mpi.Request) error { return w.UnlockAll() }},
				} {
					b := []byte{9, 9, 9, 9, 9}
					q := w.Rget(b[1:4], 1, 2)
					if !bytes.Equal(b[1:4], nothing) {
						t.Errorf("%s: %v is there before", x.name, b)
					}
					ok(t, x.complete(&q))
					if want := []byte{9, 3, 4, 5, 9}; !bytes.Equal(b, want) {
						t.Errorf("%s: %v, want %v", x.name, b, want)
					}
					ok(t, second(q.Wait()))
				}
			})
		})
	}
}

// Results that are fetched into the origin's own window memory are there before others, which
// leave the fence first, put to the same place.
func TestRS04_ResultsInWindowsAreNotLate(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinAllocate[int64](c, 4)
		ok(t, err)
		me := c.Rank()
		for i := range 100 {
			w.Local()[1] = -1
			ok(t, w.Fence(0))
			if me == 0 {
				ok(t, w.Get(w.Local()[:1], 1, 1))
			}
			ok(t, w.Fence(0))
			if me == 2 {
				ok(t, w.Put([]int64{int64(i)}, 0, 0))
			}
			ok(t, w.Fence(0))
			if got := w.Local()[0]; me == 0 && got != int64(i) {
				t.Errorf("turn %d: %d", i, got)
			}
		}
		ok(t, w.Free())
	})
}
