package rma

import (
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/offheap"
	"github.com/halo-mpi/halo/internal/rma/serve"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// # Records
//
// The state that the shortest operations load is in records off the heap, which C reads as well
// (shmfmt.ViewRecord and what it points to). Each View, Window and target has one, and there is no
// copy of what is in it.
//
// A record is freed when nothing in Go reaches its owner any more (offheap.Owned). So a view that has
// been freed finds a closed window, never another one. What a record points to in the Go heap lives
// as long as the record is used, since the owner keeps it. A caller that has found memory by a
// record alone keeps its View alive until it has the address.
//
// C finds a record by a handle. The handle has a generation and is closed when the window is freed
// (abi/bind/handle.go), before the collector can find anything; so a record needs no generation. A
// call that continues in another thread meanwhile is an error of the program: it reads memory that
// is mapped, and finds the window closed, or a zero record, which is closed too.
//
// Rejected: to free a record when its window is freed. That needs a count of all views and targets
// that might still read it, those of memory handles and of synchronisation objects among them.

// newWindow makes the Window of the members of c, without memory.
func (e *Engine) newWindow(c *comm.Comm, id uint64, flavor Flavor) *Window {
	w := &Window{e: e, Comm: c, id: id, flavor: flavor, host: -1, reusable: e.messages.NewReusable(c)}
	w.incoming = serve.Window{ID: id, Own: &w.own}
	c.Usual = call.WinFence // the only call that is one operation on c, and may not allocate
	w.rec = offheap.Owned[shmfmt.WindowRecord](w)
	w.rec.Process, w.mu = e.locking, &w.rec.Mutex
	w.seat(c.Size())
	return w
}

// attaches makes w a dynamic window. The lock is held, or nobody else has w.
func (w *Window) attaches() {
	w.dynamic = &attached{}
	w.incoming.Attached, w.incoming.Handles = &w.dynamic.List, &w.dynamic.handles.Table
}

// seat gives w n targets, none of which is in use.
func (w *Window) seat(n int) {
	w.targets = make([]atomic.Pointer[target], n)
	w.rec.SetTargets(offheap.OwnedBytes(w, n*shmfmt.TargetRecordSize))
}

// newView makes a View of w, without options.
func newView(w *Window) *View {
	v := &View{w: w}
	v.rec = offheap.Owned[shmfmt.ViewRecord](v)
	v.rec.Window.Store(w.rec)
	return v
}

// publish fills the record of t: from then on operations find t there. x is the entry of the
// member.
func (t *target) publish(x *entry) {
	r, g := t.rec, &t.region
	r.Unit, r.Size, r.Addr = x.unit, x.size, uint64(x.addr)
	r.Near, r.Fine = t.control != nil, g.Fine
	if t.path != pathBeside { // else the fast paths may not use it
		r.Mem, r.Len = pointer(g.Mem), int64(len(g.Mem))
	}
	if g.Stripes != nil {
		r.SetStripes(g.Stripes, g.Me)
		if t.control != nil && t.Rank != t.w.Comm.Rank { // C leaves the own lock to Go
			r.SetLock(t.control.Lock())
		}
	}
	r.End.Store(uint64(x.size/x.unit) + 1) // pairs with the loads by operations
}
