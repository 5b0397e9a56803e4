package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// foundRegion is a region of a target on the node, as a version of its attach table has it: one
// entry, or several that lie side by side.
type foundRegion struct {
	lo, hi  uint64 // addresses there
	version uint64
	current *atomic.Uint64 // the version of the table now
	mapped  bool           // the memory is mapped here
	mixed   bool           // it is not mapped as a whole, but parts of it may be
	region  apply.Region   // of memory that is mapped
	keep    any            // what keeps it alive, in this process
}

// foundMax is how many regions of a target are remembered.
const foundMax = 4

// lookup returns the region of a target of pathDynamic that holds bytes lo to hi, nil if none does.
//
// Cost: of a recently used region a load of the version, which stays in this processor's cache
// until memory is attached or detached; else a binary search.
func (t *target) lookup(lo, hi uint64) (*foundRegion, error) {
	if f := t.known(lo, hi); f != nil {
		return f, nil
	}
	if t.Rank == t.w.Comm.Rank {
		t.w.e.p.Lock()
		defer t.w.e.p.Unlock()
	}
	return t.search(lo, hi)
}

// lookupLocked is lookup with the lock held.
func (t *target) lookupLocked(lo, hi uint64) (*foundRegion, error) {
	if f := t.known(lo, hi); f != nil {
		return f, nil
	}
	return t.search(lo, hi)
}

// known returns the recently used region that holds bytes lo to hi, nil if none does.
func (t *target) known(lo, hi uint64) *foundRegion {
	version := t.control.TableVersion().Load() // pairs with the stores in reserve and change
	for i := range t.found {
		if f := t.found[i].Load(); f != nil && (f.version == version || planted.AttachStale) && lo >= f.lo && hi <= f.hi && lo <= hi {
			return f
		}
	}
	return nil
}

// search reads the attach table itself. The lock is held if that is the own one.
func (t *target) search(lo, hi uint64) (*foundRegion, error) {
	f, err := t.read(lo, hi)
	if f != nil {
		t.found[(t.finds.Add(1)-1)%foundMax].Store(f) // the first region takes slot 0, which firstFound looks at
	}
	return f, err
}

func (t *target) read(lo, hi uint64) (*foundRegion, error) {
	w, e := t.w, t.w.e
	if hi < lo {
		return nil, nil
	}
	if t.Rank == w.Comm.Rank {
		r := w.dynamic.Find(lo, hi-lo)
		if r == nil {
			return nil, nil
		}
		return &foundRegion{
			lo: r.Addr, hi: r.End(), version: t.control.TableVersion().Load(), current: t.control.TableVersion(), mapped: true, region: r.Memory, keep: r.Keep,
		}, nil
	}
	version := t.control.TableVersion()
	for turn := 0; ; turn++ {
		if turn > 0 {
			e.p.Yield()
		}
		if turn >= tableTurns && e.node.Gone(int(t.Process)) {
			return nil, class.Errorf(class.ProcFailed, "rank %d has failed while it attached memory", t.Rank)
		}
		v := version.Load()
		if v&1 != 0 {
			continue // it is being changed
		}
		n := int(t.control.TableLen().Load())
		if n == 0 {
			if version.Load() == v {
				return nil, nil
			}
			continue
		}
		mem, err := t.view.Memory(int64(t.control.TableOff().Load()), shmfmt.AttachTableSize(n))
		if err != nil {
			if version.Load() == v {
				return nil, err
			}
			continue
		}
		x, mixed, ok := shmfmt.OpenAttachTable(mem).Find(n, lo, hi-lo)
		if version.Load() != v {
			continue
		}
		if !ok {
			return nil, nil
		}
		f := &foundRegion{lo: x.Addr, hi: x.Addr + x.Size, version: v, current: version, mixed: mixed, region: t.region}
		f.region.Base = shmfmt.StripeBase(x.Addr)
		if x.Off != nowhere {
			if mem, err := t.view.Memory(x.Off, int64(x.Size)); err == nil {
				f.region.Mem, f.mapped = mem, true
			} else if version.Load() != v {
				continue
			} // else there is no room to map it, and it is accessed as on another node
			f.mixed = !f.mapped
		}
		return f, nil
	}
}

// tableTurns is how often a reader that meets a change of an attach table reads again, yielding in
// between, before it asks whether the target has died.
const tableTurns = 1000
