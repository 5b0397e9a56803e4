package mpi

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/rma"
)

// WinChangeComm gives a window the members of another communicator: the window grows,
// shrinks, or has its processes under other ranks, those of c. Who stays passes w and c, and
// gets w back; who leaves passes no communicator, nil, and gets nil: its w is freed. Who is
// new passes no window, nil, and gets one: with the flavor and granularity of the others',
// its own name, hints and error handler, and no memory. To a dynamic window newcomers can
// Attach some, and for others there is WinChangeCommMemory.
//
// peer is a rank of c that is a member of the window already; not all need to pass the same.
// Synchronisation objects go on to work, also while somebody waits for them: they name
// processes, not ranks.
//
// No epoch may be open, or it is ErrRMASync; no duplicate and no window of a memory handle may
// exist, ErrWin. Who leaves may not wait for notifications or signals, ErrRequest, nor hold
// the memory of all members of a shared window, ErrRMAShared, which all must be on one host
// for. A peer that is no rank of c, or no member, is ErrRank; if members pass different
// communicators, or nobody stays, that is ErrComm. If one member has such an error all have,
// and nothing has changed. Collective over the window and c.
//
// C: MPIX_Win_change_comm, an extension; see docs/extensions.md.
func WinChangeComm(w *Window, c *Comm, peer int) (*Window, error) {
	return changeComm(w, c, peer, &rma.Spec{})
}

// WinChangeCommMemory is WinChangeComm for who is new, and brings mem to a window of
// WinCreate, in displacement units of that many bytes. To windows of other flavors that is
// ErrRMAFlavor.
//
// C: MPIX_Win_change_comm_memory, an extension.
func WinChangeCommMemory(c *Comm, peer int, mem []byte, unit int) (*Window, error) {
	s := rma.Spec{Mem: mem, DispUnit: int64(unit)}
	if mem == nil {
		s.Mem = []byte{}
	}
	if unit < 1 {
		s.Refused = wrong(ErrDisp, "displacement unit of %d bytes, want at least 1", unit)
	}
	return changeComm(nil, c, peer, &s)
}

func changeComm(w *Window, c *Comm, peer int, s *rma.Spec) (*Window, error) {
	const call = callWinChangeComm
	if w == nil && c == nil {
		return nil, fail(ErrComm, call.String(), nil, "neither a window nor a communicator is given")
	}
	var to *comm.Comm
	if c != nil {
		if err := c.usable(call); err != nil {
			return w, err
		}
		to = c.core
	}
	if w == nil {
		s.Options.Ordering = rma.Ordered
		v, err := c.w.RMA.ChangeComm(nil, to, peer, *s)
		if v == nil {
			return nil, wrap(err, call, c, Undefined, Undefined)
		}
		n := newWindow(c, v, s)
		if err != nil {
			return n, n.failed(err, call, Undefined)
		}
		return n, nil
	}
	if err := w.usable(call); err != nil {
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
		return w, w.failed(err, call, Undefined)
	}
	return w, nil
}
