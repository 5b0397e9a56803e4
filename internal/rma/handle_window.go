package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// handle is the memory of a view of a memory handle. The view is one of the parent window: it uses
// the target of the parent, its epochs and its paths, and adds only where the memory is. So it is
// made without a message, and costs one object.
type handle struct {
	target *target
	rank   int
	key    uint64
	// live is the key in the target's table, where that is mapped: another value there says that
	// the handle has been released. Pairs with the stores in shmfmt.HandleSlot. nil: the target's
	// service checks the key.
	live *atomic.Uint64

	unit   int64        // displacement unit in bytes
	size   int64        // in bytes
	most   uint64       // the highest displacement that is not past the end
	region apply.Region // Mem is nil where the memory is not mapped
	addr   uint64       // of the memory in its process, on the node; else 0
	freed  atomic.Bool
}

// handleView is a view of a handle as it is allocated.
type handleView struct {
	View
	handle handle
	record shmfmt.ViewRecord // on the heap: C does not use such views
}

// FromHandle makes a view of the memory that a handle names (MPIX_WIN_FROM_MEMHANDLE), of its first
// size bytes, all of them if size is negative. Displacements are in units of unit bytes; target is
// the rank whose memory it is. It is local, sends nothing, and takes the lock only if the target is
// this process. Where the target's memory is mapped it checks whether the handle is live; else the
// first flush does.
func (v *View) FromHandle(b []byte, size, unit int64, target int) (*View, error) {
	w := v.w
	if err := v.entire(); err != nil {
		return nil, err
	}
	if w.dynamic == nil {
		return nil, class.Errorf(class.RMAFlavor, "memory handles belong to dynamic windows, this one is %v", w.flavor)
	}
	if unit <= 0 {
		return nil, class.Errorf(class.Disp, "displacement unit %d is not positive", unit)
	}
	x, rank, err := w.parseHandle(b, target)
	if err != nil {
		return nil, err
	}
	if rank != target {
		return nil, class.Errorf(class.Rank, "the memory handle is of rank %d, not of target %d", rank, target)
	}
	if size < 0 {
		size = int64(x.Size)
	}
	if uint64(size) > x.Size {
		return nil, class.Errorf(class.Size, "%d bytes of memory whose handle names %d", size, x.Size)
	}
	t, err := w.target(target)
	if err != nil {
		return nil, err
	}
	n := &handleView{handle: handle{
		target: t, rank: target, key: x.Key, unit: unit, size: size, most: uint64(size / unit),
	}}
	if err := n.handle.find(&x); err != nil {
		return nil, err
	}
	n.View.w, n.View.handle, n.View.rec = w, &n.handle, &n.record
	n.record.Window.Store(w.rec)
	o := v.options.Load()
	n.options.Store(o)
	if o.InOrder || o.Thread || o.Intrinsic {
		w.e.p.Lock()
		n.setOptions(*o)
		w.e.p.Unlock()
	}
	w.handles.Add(1)
	return &n.View, nil
}

// find finds the memory, if it is on the node.
func (h *handle) find(x *memhandle.Handle) error {
	t := h.target
	w, e := t.w, t.w.e
	switch {
	case t.Rank == w.Comm.Rank:
		e.p.Lock()
		defer e.p.Unlock()
		r := w.dynamic.handles.Get(x.Key)
		if r == nil || uint64(len(r.Region.Mem)) != x.Size {
			return h.stale()
		}
		h.live, h.region = r.Shown.Key(), r.Region
		h.region.Mem = h.region.Mem[:h.size]
	case t.control != nil:
		s, known := t.handleSlot(int(x.Slot))
		switch {
		case !known:
			return nil // it is accessed as on another node
		case s == nil:
			return h.stale()
		}
		told, ok := s.Read(x.Key)
		if !ok || told.Size != x.Size {
			return h.stale()
		}
		h.live, h.addr, h.region = s.Key(), told.Addr, t.region
		h.region.Base = shmfmt.StripeBase(told.Addr)
		if told.Off != nowhere {
			if mem, err := t.view.Memory(told.Off, int64(told.Size)); err == nil {
				h.region.Mem = mem[:h.size]
			} // else there is no room to map it, and it is accessed as on another node
		}
	}
	return nil
}

func (h *handle) stale() error {
	return class.Errorf(class.RMARange, "the memory handle of rank %d has been released, or was never made", h.rank)
}

// room is the function room for the memory of a handle. It and open are inlined.
func (h *handle) room(disp int64, n int) int64 {
	if uint64(disp) <= h.most {
		if at := disp * h.unit; int64(n) <= int64(len(h.region.Mem))-at {
			return at
		}
	}
	return -1
}

// open reports whether t is the target, and locked, the memory mapped, and the handle not released,
// for which it loads a word of the target's memory.
func (h *handle) open(t *target) bool {
	return t == h.target && t.w.locks(t) && !t.viaFrames.Load() &&
		h.live != nil && (h.live.Load() == h.key || planted.HandleStale)
}

// reaches reports whether rank is a target of the view; all are where h is nil.
func (h *handle) reaches(rank int) bool { return h == nil || h.rank == rank && !h.freed.Load() }

// takes returns an error unless rank is the target, and locked; never if h is nil.
func (h *handle) takes(rank int) error {
	switch {
	case h == nil:
		return nil
	case h.freed.Load():
		return class.Errorf(class.Win, "the window has been freed")
	case rank == ProcNull:
		return nil
	case rank != h.rank:
		return class.Errorf(class.Rank, "rank %d is no target here: the window is one of a memory handle of rank %d", rank, h.rank)
	}
	_, err := h.target.w.passive(rank, call.Access)
	return err
}

// offset is the address in the handle space of a displacement from which bytes lo to hi are
// accessed.
func (h *handle) offset(disp, lo, hi int64) (uint64, error) {
	if uint64(disp) <= h.most {
		at := disp * h.unit // at most size
		if lo >= -at && hi <= h.size-at {
			return h.key + uint64(at), nil
		}
	}
	return 0, class.Errorf(class.RMARange, "bytes %d to %d at displacement %d, in units of %d, are outside of the %d bytes of the memory handle of rank %d",
		lo, hi, disp, h.unit, h.size, h.rank)
}

// apply carries out an access at an address of offset. It reports false if the memory is not mapped
// here.
func (h *handle) apply(a *operation.Op, addr uint64) (bool, error) {
	if h.live == nil {
		return false, nil
	}
	if h.live.Load() != h.key && !planted.HandleStale {
		return false, h.stale()
	}
	if h.region.Mem == nil || a.Kind >= operation.Accumulate && h.target.viaFrames.Load() {
		return false, nil
	}
	return true, a.Apply(&h.region, int64(addr-h.key))
}

// copy is Engine.copy for an access of the view.
func (v *View) copy(t *target, a *operation.Op, off uint64) bool {
	h, e := v.handle, v.w.e
	if h == nil {
		return e.copy(t, a, off)
	}
	if h.live == nil || h.region.Mem != nil {
		return false
	}
	e.p.Lock()
	defer e.p.Unlock()
	if e.p.DownCause(int(t.Process)) != nil {
		return false
	}
	return e.offered(t, a, off) || (a.Kind == operation.Put || a.Kind == operation.Get) && e.canCopy(t.Process) && e.copyTo(t, a, h.addr+off-h.key, true)
}

// entire returns an error if the window has been freed, or if v is the view of a memory handle,
// which has no synchronisation of its own but flushes.
func (v *View) entire() error {
	if err := v.w.live(); err != nil {
		return err
	}
	if v.handle != nil {
		return class.Errorf(class.RMASync, "the window of a memory handle takes puts, gets, accumulates and flushes only: the rest is that of its parent")
	}
	return nil
}

// freeHandle ends a view of a handle: it completes its operations, if the target is still locked.
// It is local.
func (v *View) freeHandle() error {
	h, w := v.handle, v.w
	if h.freed.Swap(true) {
		return class.Errorf(class.Win, "the window has been freed")
	}
	h.live = nil // so that no operation takes the fast path
	w.handles.Add(-1)
	if w.freed.Load() {
		return nil // with its parent, all is complete
	}
	err := v.settle(h.target, false, call.WinFree)
	if v.Options().Thread {
		w.e.p.Lock()
		v.giveNumber()
		w.e.p.Unlock()
	}
	return err
}
