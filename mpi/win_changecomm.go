package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/rma"
)

// WinChangeComm replaces the members of a window by those of another communicator: the window
// grows, shrinks, or has its processes under other ranks, those of c. A member that stays passes
// w and c, and gets w back. A member that leaves passes nil for c and gets nil; its w is freed.
// A new member passes nil for w and gets a window with the flavor and granularity of the others,
// with its own name, hints and error handler, and without memory. New members of a dynamic
// window can Attach memory; for other windows there is WinChangeCommMemory.
//
// peer is a rank of c that is already a member of the window. Members may pass different ones.
// Synchronisation objects remain valid, even while a process waits for them: they refer to
// processes, not to ranks.
//
// Errors: ErrRMASync if an epoch is open; ErrWin if the window has a duplicate or a window of a
// memory handle; ErrRequest if a leaving member waits for notifications or signals; ErrRMAShared
// if a leaving member holds the memory of all members of a shared window, or not all members of
// a shared window are on one host; ErrRank if peer is not a rank of c or not a member; ErrComm
// if members pass different communicators, or no member stays. If one member has such an error,
// all have it, and nothing has changed. Collective over the window and c.
//
// C: MPIX_Win_change_comm, an extension; see docs/extensions.md.
func WinChangeComm(w *Window, c *Comm, peer int) (*Window, error) {
	return changeComm(w, c, peer, &rma.Spec{})
}

// WinChangeCommMemory is WinChangeComm for a new member that adds mem to a window of WinCreate,
// with a displacement unit of unit bytes. ErrRMAFlavor for windows of other flavors.
//
// C: MPIX_Win_change_comm_memory, an extension.
func WinChangeCommMemory(c *Comm, peer int, mem []byte, unit int) (*Window, error) {
	s := rma.Spec{Mem: mem, DispUnit: int64(unit)}
	if mem == nil {
		s.Mem = []byte{}
	}
	if unit < 1 {
		s.Refused = class.Errorf(class.Disp, "displacement unit of %d bytes, want at least 1", unit)
	}
	return changeComm(nil, c, peer, &s)
}

func changeComm(w *Window, c *Comm, peer int, s *rma.Spec) (*Window, error) {
	const by = call.WinChangeComm
	if w == nil && c == nil {
		return nil, fail(ErrComm, by, nil, "neither a window nor a communicator is given")
	}
	var to *comm.Comm
	if c != nil {
		if err := c.usable(by); err != nil {
			return w, err
		}
		to = c.core
		defer to.Begin(by)()
	}
	if w == nil {
		s.Options.Ordering = rma.Ordered
		v, err := c.w.RMA.ChangeComm(nil, to, peer, *s)
		if v == nil {
			return nil, wrap(err, by, c, Undefined, Undefined)
		}
		n := newWindow(c, v, s)
		if err != nil {
			return n, n.failed(err, by, Undefined)
		}
		return n, nil
	}
	if err := w.usable(by); err != nil {
		return w, err
	}
	w.endThreads()
	v, err := w.w.RMA.ChangeComm(w.v, to, peer, *s)
	if err == nil && v == nil {
		w.c.freed.Store(true)
		return nil, nil
	}
	w.c.core = w.v.Comm()
	if err != nil {
		return w, w.failed(err, by, Undefined)
	}
	return w, nil
}
