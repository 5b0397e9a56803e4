package rma

import (
	"sync"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/apply"
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/node"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/rma/check"
	"github.com/halo-mpi/halo/internal/rma/serve"
	"github.com/halo-mpi/halo/internal/rma/syncobject"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// ProcNull is the target of operations that do nothing.
const ProcNull = p2p.ProcNull

// gate says whether operations to a target may be applied. The fast path through mapped memory tests
// bit 0 only.
type gate = uint32

const (
	gateClosed  gate = 0
	gateOpen    gate = 1  // operations are applied
	gateWaiting gate = 2  // the access epoch has begun, the target has not posted: defer operations
	gateLazy    gate = 32 // never stored: the target's lock has not been asked for
)

// Window is the state that all views of a window share.
type Window struct {
	e      *Engine
	Comm   *comm.Comm // the window's own, a duplicate; its context names the window
	id     uint64
	flavor Flavor

	// rec is the record that operations load, with the state of epochs. Its Mode is stored under mu, with one
	// exception: in C the first operation after a fence stores Mode without mu, and changes nothing else.
	rec *shmfmt.WindowRecord

	targets  []atomic.Pointer[target] // by rank; nil until first used
	table    table                    // of all ranks
	mem      []byte                   // memory of this process; nil in dynamic windows
	own      apply.Region             // the same memory, for operations that arrive in frames
	control  *shmfmt.Window           // control block of this process
	incoming serve.Window             // the same memory, for frames of others
	dynamic  *attached                // attached regions of this process, nil in other windows
	handles  atomic.Int32             // views of memory handles that have not been freed
	block    []byte                   // memory that holds mem, to be freed
	page     []byte                   // memory of the control block, to be freed
	host     int                      // rank whose segment has all memory; -1: each has its own
	hosted   node.View                // of the heap of host; nil until used; under the engine's lock
	departed []node.View              // views of heaps of processes that have left the window
	blocks                            // memory of members of several jobs
	freed    atomic.Bool
	objects  syncobject.Table // synchronisation objects of this process; under the engine's lock
	check    *check.Window    // nil unless all members check; only ChangeComm changes it

	reusable *p2p.Request // of PutRequest and GetRequest

	mu *sync.Mutex // of rec: guards transitions of epochs; see the package comment

	windowViews
	windowSync
	windowCounters
}

// AppendOn appends the name of the window, as in " on halo", if it has one.
func (w *Window) AppendOn(b []byte) []byte { return w.Comm.AppendOn(b) }

// live returns an error if the window has been freed.
func (w *Window) live() error {
	if w.freed.Load() {
		return class.Errorf(class.Win, "the window has been freed")
	}
	return nil
}

// Free ends the window (MPI_WIN_FREE) when all members have called it and all operations are
// complete. It is collective, and returns an error at a process with an open epoch. Free of a
// duplicate is local, and can fail only if the duplicate was the last view of the window. It takes
// the lock.
//
// If a member has died, others may still use the memory: then Free does not free it.
func (v *View) Free() error {
	w := v.w
	if v.handle != nil {
		return v.freeHandle()
	}
	if err := w.live(); err != nil {
		return err
	}
	if !v.first {
		return v.freeDup()
	}
	if err := w.idle(); err != nil {
		return err
	}
	if err := w.unawaited(); err != nil {
		return err
	}
	w.settleAll(false, call.WinFree) // waits for signals, which belong to no epoch; others report failures
	return v.freeFirst()
}

// discard removes the window from this process, and frees the memory if it is unused. The lock is
// held.
func (w *Window) discard(unused bool) {
	e := w.e
	delete(e.windows, w.id)
	if d := w.dynamic; d != nil && unused {
		if d.page != nil {
			e.mem.Free(d.page)
		}
		if e.node != nil {
			for _, page := range d.handles.pages {
				e.mem.Free(page)
			}
		}
	}
	if unused {
		w.freeCounters()
	}
	e.colls.Drop(w.Comm)
	w.unmapBlocks(unused)
	if !unused {
		return
	}
	w.unmap()
	if w.block != nil {
		e.mem.Free(w.block)
	}
	if w.page != nil {
		e.mem.Free(w.page)
	}
}
