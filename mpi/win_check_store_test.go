package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
	"github.com/halo-mpi/halo/mpi/mpitest"
)

// stores has rank 0 access rank 1, which stores to the same element by its own slice; in the
// repaired plot it does so after the access is complete.
func stores(access, stage string) func(p *plot) {
	return func(p *plot) {
		s := stages[stage]
		store := func() {
			if p.is(1) {
				p.Local()[5] = 77
			}
		}
		s.open(p)
		p.meet()
		if p.is(0) {
			_, err := accesses[access](p, spot{4, 4})
			p.ok(err)
		}
		if !p.bad {
			s.complete(p)
			store()
			p.meet()
		}
		p.meet()
		if p.bad {
			store()
		}
		switch {
		case p.is(1) && stage == "fence":
			p.last(p.note(p.Fence(0)), "bytes 40 to 40 of rank 1 (displacement 5)", "before Fence at", "between the same two fences")
		case p.is(1):
			p.last(p.note(p.Win.Wait()), "bytes 40 to 40 of rank 1 (displacement 5)", "before Wait at", "in the same epoch of Post")
		default:
			s.close(p)
		}
		p.meet()
		p.Local()[5] = 0
	}
}

// RC-10, E4-01: if a target stores to bytes after a get or a put of another rank in one epoch, the call
// of the target that ends the epoch reports it, even if only the contents of memory show it.
func TestRC10_StoresAfterAccesses(t *testing.T) {
	runPlanted(t, []planted{
		{"fence: get", mpi.ErrRMAConflict, "", stores("get", "fence")},
		{"fence: put", mpi.ErrRMAConflict, "", stores("put", "fence")},
		{"fence: get", mpi.ErrRMAConflict, "create", stores("get", "fence")},
		{"fence: put", mpi.ErrRMAConflict, "create", stores("put", "fence")},
		{"post: get", mpi.ErrRMAConflict, "", stores("get", "post")},
		{"post: put", mpi.ErrRMAConflict, "create", stores("put", "post")},
		{"fence: column", mpi.ErrRMAConflict, "", func(p *plot) {
			p.ok(p.Fence(0))
			if p.is(0) {
				_, err := accesses["column"](p, spot{4, 1})
				p.ok(err)
			}
			p.meet()
			if p.is(1) {
				p.Local()[5] = 7 // between the elements
				if p.bad {
					p.Local()[8] = 7
				}
				p.last(p.note(p.Fence(0)), "bytes 64 to 64 of rank 1 (displacement 8)")
			} else {
				p.ok(p.Fence(0))
			}
			p.meet()
		}},
		{"post: get, test", mpi.ErrRMAConflict, "", func(p *plot) {
			openPost(p)
			if p.is(0) {
				p.ok(p.note(p.Get(make([]int64, 1), 1, 4)))
			}
			p.meet()
			if p.is(0, 2) {
				p.ok(p.Complete())
				p.meet()
				return
			}
			if p.bad {
				p.Local()[4] = 9
			}
			for {
				done, err := p.Win.Test()
				if done {
					p.last(err, "before Test at")
					break
				}
				p.ok(err)
			}
			p.meet()
		}},
	})
}

// Updates by others in one epoch, and accesses in another order, are not reported as stores of
// the target, nor are those of the next epoch, however early its origin begins.
func TestRC10_UpdatesAreNoStores(t *testing.T) {
	t.Setenv("HALO_CHECK", "1")
	mpitest.Run(t, 3, func(t testing.TB, c *mpi.Comm) {
		w, err := mpi.WinCreate(c, make([]int64, 8))
		ok(t, err)
		info := mpi.NewInfo()
		ok(t, info.Set("mpi_win_order", "true"))
		ordered, err := w.Dup(info)
		ok(t, err)
		me := c.Rank()
		ok(t, w.Fence(0))
		for i := range 100 {
			v := []int64{int64(i)}
			switch {
			case me == i%3:
				ok(t, w.Put(v, 1, 0))
				ok(t, w.Get(make([]int64, 1), 1, 1))
				ok(t, ordered.Put(v, 1, 2))
				ok(t, ordered.Get(make([]int64, 1), 1, 2))
				ok(t, ordered.Get(make([]int64, 1), 1, 3))
				ok(t, ordered.Put(v, 1, 3))
			case me == (i+1)%3:
				ok(t, w.Accumulate(v, 1, 4, mpi.Sum))
				ok(t, w.Get(make([]int64, 1), 1, 1))
			}
			ok(t, w.Fence(0))
			if me == 1 {
				w.Local()[1]++
			}
			ok(t, w.Fence(0))
		}
		ok(t, ordered.Free())
		ok(t, w.Free())
	})
}
