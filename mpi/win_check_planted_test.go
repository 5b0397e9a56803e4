package mpi_test

import (
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// onRank1 has rank 0 put to rank 1, which then accesses its own memory; in the repaired plot it
// does so after the put is complete.
func onRank1(first, stage string, then func(p *plot) error) func(p *plot) {
	return func(p *plot) {
		s := stages[stage]
		s.open(p)
		p.meet()
		if p.is(0) {
			_, err := accesses[first](p, spot{4, 4})
			p.ok(err)
		}
		if !p.bad {
			p.meet()
			s.complete(p)
		}
		p.meet()
		if p.is(1) {
			p.last(then(p), "bytes 32 to ", "of rank 1 (displacement 4", "by rank 1 at ", "by rank 0 at ")
		}
		p.meet()
		s.close(p)
	}
}

// RC-10, RC-12: a store conflicts with a put, get or accumulate of another rank, and a load with
// one that updates, in either order, while both are pending.
func TestRC10_RC12_LoadsAndStoresThatConflict(t *testing.T) {
	some := make([]int64, 2)
	store := func(p *plot) error { return p.note(p.Store(some, 4)) }
	load := func(p *plot) error { return p.note(p.Load(make([]int64, 2), 4)) }
	during := func(then string, store bool) func(p *plot) {
		return func(p *plot) {
			stages["all"].open(p)
			use := func(int64s []int64) {
				if p.bad {
					p.meet()
					p.meet()
				}
			}
			switch {
			case p.is(1) && store:
				p.ok(p.note(p.Writing(4, 4, use)))
			case p.is(1):
				p.ok(p.note(p.Reading(4, 4, use)))
			case p.bad:
				p.meet()
			}
			if !p.bad {
				p.meet()
			}
			if p.is(0) {
				_, err := accesses[then](p, spot{5, 2})
				if p.bad {
					// The call of rank 1 is recorded when it returns.
					p.last(err, "bytes 40 to ", "of rank 1 (displacement 5", "by rank 1 at ", "which is under way")
				} else {
					p.ok(err)
				}
			}
			if p.bad && !p.is(1) {
				p.meet()
			}
			p.meet()
			stages["all"].close(p)
		}
	}
	runPlanted(t, []planted{
		{"fence: put and store", mpi.ErrRMAConflict, "", onRank1("put", "fence", store)},
		{"fence: get and store", mpi.ErrRMAConflict, "create", onRank1("get", "fence", store)},
		{"fence: sum and load", mpi.ErrRMAConflict, "", onRank1("sum", "fence", load)},
		{"all: put and load", mpi.ErrRMAConflict, "", onRank1("put", "all", load)},
		{"all: get and store", mpi.ErrRMAConflict, "", onRank1("get", "all", store)},
		{"lock: getsum and store", mpi.ErrRMAConflict, "create", onRank1("getsum", "lock", store)},
		{"store and put", mpi.ErrRMAConflict, "", during("put", true)},
		{"store and get", mpi.ErrRMAConflict, "", during("get", true)},
		{"load and sum", mpi.ErrRMAConflict, "create", during("sum", false)},
	})
}

// reuse is a plot of rank 0 alone, in an epoch of LockAll.
func reuse(run func(p *plot)) func(p *plot) {
	return func(p *plot) {
		p.ok(p.LockAll(0))
		if p.is(0) {
			run(p)
		}
		p.ok(p.UnlockAll())
	}
}

// RC-09: if memory of the origin changes before its operation is complete, the call that
// completes the operation reports it; if it is being fetched into and another operation uses it,
// that operation reports it.
func TestRC09_MemoryOfOperationsIsReused(t *testing.T) {
	flushed := func(p *plot) {
		if !p.bad {
			p.ok(p.FlushLocal(1))
		}
	}
	runPlanted(t, []planted{
		{"put, change, flush", mpi.ErrRMAConflict, "", reuse(func(p *plot) {
			b := []int64{1, 2}
			p.ok(p.note(p.Put(b, 1, 4)))
			flushed(p)
			b[1] = 3
			p.last(p.note(p.Flush(1)), "the 16 bytes here", "bytes 32 to 47 of rank 1", "before Flush at")
		})},
		{"accumulate, change, flush_local_all", mpi.ErrRMAConflict, "create", reuse(func(p *plot) {
			b := []int64{1, 2}
			p.ok(p.note(p.Accumulate(b, 1, 4, mpi.Sum)))
			flushed(p)
			b[0] = 3
			p.last(p.note(p.FlushLocalAll()), "the 16 bytes here", "before FlushLocalAll at")
		})},
		{"put of a column, change, flush", mpi.ErrRMAConflict, "", reuse(func(p *plot) {
			b, long := make([]int64, 16), columnOf(p)
			p.ok(p.note(p.Untyped().Put(mpi.BufOf(b, 1, long), 1, 0, 1, long)))
			b[1] = 5 // between the elements
			flushed(p)
			b[4] = 5
			p.last(p.note(p.Flush(1)), "the 32 bytes here")
		})},
		{"rput, change, wait", mpi.ErrRMAConflict, "", reuse(func(p *plot) {
			b := []int64{1}
			q := p.begun(p.Rput(b, 1, 4))
			if p.bad {
				b[0] = 2
			}
			p.last(p.note(second(q.Wait())), "the 8 bytes here", "before the wait at")
		})},
		{"get, get into the same", mpi.ErrRMAConflict, "", reuse(func(p *plot) {
			b := make([]int64, 4)
			p.ok(p.note(p.Get(b, 1, 4)))
			flushed(p)
			p.last(p.note(p.Get(b[3:], 1, 20)), "fetches into 8 bytes of memory here", "is fetching into")
		})},
		{"fetch, put of the result", mpi.ErrRMAConflict, "create", reuse(func(p *plot) {
			one, old := []int64{1}, []int64{0}
			p.ok(p.note(p.FetchAndOp(&one[0], &old[0], 1, 4, mpi.Sum)))
			flushed(p)
			p.last(p.note(p.Put(old, 1, 20)), "sends 8 bytes of memory here", "is fetching into")
		})},
		{"put, get into the origin", mpi.ErrRMAConflict, "", reuse(func(p *plot) {
			b := []int64{1}
			p.ok(p.note(p.Put(b, 1, 4)))
			flushed(p)
			p.last(p.note(p.Get(b, 1, 20)), "fetches into 8 bytes of memory here", "is sending")
		})},
		{"put, change, fence", mpi.ErrRMAConflict, "", func(p *plot) {
			b := []int64{1}
			p.ok(p.Fence(0))
			if p.is(0) {
				p.ok(p.note(p.Put(b, 1, 4)))
			}
			if !p.bad {
				p.ok(p.Fence(0))
			}
			b[0]++
			if p.is(0) {
				p.last(p.note(p.Fence(0)), "before Fence at")
			} else {
				p.ok(p.Fence(0))
			}
		}},
	})
}

// RC-18: accesses outside of the target's memory are reported with the call, and with the calls
// that made, attached or detached the memory; also with layouts. Epochs that are open when the
// window is freed are reported with the calls that began them. Types that differ between both
// sides are ErrType.
func TestRC18_RW03_RC13_RangesEpochsAndTypes(t *testing.T) {
	doubles, err := mpi.TypeOf[float64]()
	ok(t, err)
	runPlanted(t, []planted{
		{"put past the end", mpi.ErrRMARange, "", reuse(func(p *plot) {
			n := 2
			if p.bad {
				n = 3
			}
			p.last(p.note(p.Put(make([]int64, n), 1, 62)), "the window was made at win_check_plot_test.go:")
		})},
		{"a column past the end", mpi.ErrRMARange, "", reuse(func(p *plot) {
			disp := int64(51)
			if p.bad {
				disp = 52
			}
			p.last(p.note(p.Untyped().Put(mpi.Buf(make([]int64, 4)), 1, disp, 1, columnOf(p))), "the window was made at win_check_plot_test.go:")
		})},
		{"freed with a lock", mpi.ErrRMASync, "", func(p *plot) {
			p.ok(p.note(p.LockAll(mpi.ModeNoCheck)))
			if p.bad {
				p.last(p.Free(), "LockAll at ")
			}
			p.ok(p.UnlockAll())
		}},
		{"put of other types", mpi.ErrType, "", reuse(func(p *plot) {
			d := doubles
			if !p.bad {
				d, _ = mpi.TypeOf[int64]()
			}
			p.last(p.Untyped().Put(mpi.Buf(make([]int64, 2)), 1, 4, 2, d), "2 x MPI_INT64_T are not 2 x MPI_DOUBLE")
		})},
		{"put of other types with a notification", mpi.ErrType, "", reuse(func(p *plot) {
			d := doubles
			if !p.bad {
				d, _ = mpi.TypeOf[int64]()
			}
			p.last(p.Untyped().PutNotify(mpi.Buf(make([]int64, 2)), 1, 4, 2, d, 0), "2 x MPI_INT64_T are not 2 x MPI_DOUBLE")
		})},
		{"get of other types", mpi.ErrType, "", reuse(func(p *plot) {
			d := doubles
			if !p.bad {
				d, _ = mpi.TypeOf[int64]()
			}
			p.last(p.Untyped().Get(mpi.Buf(make([]int64, 2)), 1, 4, 2, d), "2 x MPI_DOUBLE are not 2 x MPI_INT64_T")
		})},
	})
}
