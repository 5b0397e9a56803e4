package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// path is how the memory of a target is reached.
type path uint8

const (
	pathFrames  path = iota // the target's service applies what is sent
	pathMapped              // mapped here
	pathKernel              // put and get by the kernel, the rest by frames
	pathBeside              // of another job, mapped here: put and get there, the rest by frames
	pathDynamic             // of a dynamic window, on the node: each operation looks the memory up
)

// target is one member of a window as an origin sees it. It is made at first use, under
// the engine's lock, and is the same from then on.
type target struct {
	w     *Window
	brief uint32 // proc.Brief of it
	path  path

	// rec is the record that operations load, in the array of the window. Its Gate is stored under
	// Window.mu or the engine's lock, its Framed under the engine's lock; May is raised under it.
	// All else is constant.
	rec *shmfmt.TargetRecord

	// region is the same memory and stripes for package apply, which also serves memory without a
	// record. It keeps alive what rec points to. Of pathMapped and pathBeside: Mem is all of it; of
	// others on the node: its stripes.
	region apply.Region
	// control is the target's control block, nil if the target is on another node.
	control *shmfmt.Window
	view    node.View                             // of the heap that the control block is in; nil without one
	found   [foundMax]atomic.Pointer[foundRegion] // of pathDynamic: recently used regions
	finds   atomic.Uint32
	// viaFrames says that an accumulate has gone by frames because it is in several regions, of
	// which some may be mapped: later ones go by frames, too, so that they stay behind it.
	viaFrames atomic.Bool

	deferred []*link.Operation // in order; under the engine's lock

	link.Target // operations by frames, with rank and process; behind what the fast paths load

	counters counters // as far as they are mapped here

	targetSync
}

func noRank(rank, n int) error {
	return class.Errorf(class.Rank, "target %d is not a rank of a window of %d", rank, n)
}

// usedTarget returns the target of a rank, nil if there is none or it has never been used. It is inlined.
func (w *Window) usedTarget(rank int) *target {
	if uint(rank) < uint(len(w.targets)) {
		return w.targets[rank].Load()
	}
	return nil
}

// target returns the target of a rank. It takes the lock at the first use of the rank.
func (w *Window) target(rank int) (*target, error) {
	if uint(rank) >= uint(len(w.targets)) {
		return nil, noRank(rank, len(w.targets))
	}
	if t := w.targets[rank].Load(); t != nil {
		return t, nil
	}
	if err := w.live(); err != nil {
		return nil, err
	}
	w.e.p.Lock()
	defer w.e.p.Unlock()
	return w.targetLocked(rank)
}

// targetLocked is target of a valid rank, with the lock held.
func (w *Window) targetLocked(rank int) (*target, error) {
	if t := w.targets[rank].Load(); t != nil {
		return t, nil
	}
	e, x := w.e, w.table.at(rank)
	t := &target{w: w, Target: link.Target{Rank: rank, Process: w.Comm.Members[rank]}, rec: w.rec.Target(rank)}
	t.brief = e.p.Brief(int(t.Process))
	if rank == w.Comm.Rank {
		t.control, t.region, t.path = w.control, w.own, pathMapped
		if w.flavor == Dynamic {
			t.path = pathDynamic
		}
	} else if e.near(t.Process) {
		if err := t.open(x); err != nil {
			return nil, err
		}
	} else if mem, mapped := w.beside[t.Process]; mapped {
		t.path, t.region.Mem = pathBeside, mem
	}
	e.link.Open(&t.Target, w.id, w.dynamic != nil)
	t.startSync()
	t.publish(&x)
	w.targets[rank].Store(t)
	return t, nil
}

// open maps the memory of a target on the node.
func (t *target) open(x entry) error {
	w, e := t.w, t.w.e
	n, me := e.locals()
	t.view = e.node.View(int(t.Process))
	page, err := t.view.Memory(x.control, shmfmt.WindowSize(n))
	if err != nil {
		return err
	}
	t.control, err = shmfmt.OpenWindow(page, w.id, n)
	if err != nil {
		return err
	}
	t.region = e.region(nil, t.control, me)
	t.region.Fine = w.own.Fine
	mem, mapped := w.beside[t.Process]
	switch {
	case w.flavor == Dynamic:
		t.path = pathDynamic
		return nil
	case mapped:
		t.path, t.region.Mem = pathMapped, mem
		return nil
	case x.where != nowhere:
		view := t.view
		if w.host >= 0 {
			view = w.ofHost()
		}
		if mem, err := view.Memory(x.where, x.size); err == nil {
			t.path, t.region.Mem = pathMapped, mem
			return nil
		} // else there is no room to map it, and it is accessed as on another node
	}
	if w.host < 0 && e.canCopy(t.Process) {
		t.path = pathKernel
		t.rec.Pid, t.rec.Gone = e.node.Process(int(t.Process))
	}
	return nil
}

// offset is target.offset, or handle.offset for the view of a handle.
func (v *View) offset(t *target, disp, lo, hi int64) (uint64, error) {
	if v.handle != nil {
		return v.handle.offset(disp, lo, hi)
	}
	return t.offset(disp, lo, hi)
}

// offset is the offset in the memory of t, in bytes, of a displacement from which bytes lo to hi
// are accessed; in a dynamic window it is the address.
func (t *target) offset(disp, lo, hi int64) (uint64, error) {
	if t.w.flavor == Dynamic {
		return uint64(disp), nil
	}
	if uint64(disp) < t.rec.End.Load() {
		at := disp * t.rec.Unit // at most size
		if lo >= -at && hi <= t.rec.Size-at {
			return uint64(at), nil
		}
	}
	return 0, class.Errorf(class.RMARange, "bytes %d to %d at displacement %d, in units of %d, are outside of the %d bytes of rank %d",
		lo, hi, disp, t.rec.Unit, t.rec.Size, t.Rank)
}

// ofHost is the view of the heap with the memory of all members.
func (w *Window) ofHost() node.View {
	if w.hosted == nil {
		w.hosted = w.e.node.View(int(w.Comm.Members[w.host]))
	}
	return w.hosted
}

// unmap closes the mappings of other processes. The lock is held.
func (w *Window) unmap() {
	views := append(w.departed, w.hosted)
	for i := range w.targets {
		if t := w.targets[i].Load(); t != nil {
			views = append(views, t.view)
		}
	}
	for _, v := range views {
		if v != nil {
			v.Close()
		}
	}
}

// canCopy reports whether the kernel copies from and to the memory of a process. The
// lock is held.
func (e *Engine) canCopy(process int32) bool {
	return e.p.Near(int(process)) && e.node.CanWrite(int(process))
}

// Query returns the memory of a rank as it is mapped here, nil if it is not, and its
// displacement unit (MPI_WIN_SHARED_QUERY). For ProcNull it is that of the lowest rank
// that has any, or else of rank 0.
func (v *View) Query(rank int) (mem []byte, unit int64, err error) {
	w := v.w
	if err := w.live(); err != nil {
		return nil, 0, err
	}
	if w.flavor == Dynamic {
		return nil, 0, class.Errorf(class.RMAFlavor, "a dynamic window has no memory to be shared")
	}
	if rank == ProcNull {
		for rank = 0; rank < len(w.targets) && w.table.size.at(rank) == 0; rank++ {
		}
		if rank == len(w.targets) {
			rank = 0
		}
	}
	t, err := w.target(rank)
	if err != nil {
		return nil, 0, err
	}
	if t.path != pathMapped && t.path != pathBeside {
		return nil, t.rec.Unit, nil
	}
	return t.region.Mem, t.rec.Unit, nil
}
