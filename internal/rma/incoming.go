package rma

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/link"
	"github.com/halo-mpi/halo/internal/rma/lock"
	"github.com/halo-mpi/halo/internal/rma/serve"
	"github.com/halo-mpi/halo/internal/wire"
)

// Frame implements fabric.Sink, for frames of one-sided communication: answers are for the link, operations for the server,
// and what locks, posts and grants is for the window.
//
// Nothing in a frame is trusted. A window is looked up by its id, which is unique in a job, and the
// sender must be a member. The window says which memory lies at a displacement, and all of it is
// checked before any of it is accessed. Errors that a correct process can make, for example an
// access beyond the end or to memory that is detached, are answered by a fault. A peer that sends
// what no correct process can send is taken down.
func (e *Engine) Frame(from int, h *wire.Header, payload []byte) {
	if e.link.Refused(from) {
		return
	}
	switch h.Kind {
	case wire.WinReply:
		e.link.Reply(from, h, payload)
		return
	case wire.WinFault:
		e.link.Faulted(from, h, payload)
		return
	case wire.WinDone:
		e.link.Done(from, h, payload)
		return
	case wire.WinCheck:
		e.takeQuestion(from, h, payload)
		return
	}
	w := e.windows[h.Ctx]
	if w == nil {
		e.server.Stale(from, h, payload)
		return
	}
	if w.Comm.RankOf(int32(from)) < 0 {
		e.link.Refuse(from, "it has used a window that it is not in")
		return
	}
	if h.Chan >= link.ChannelsMax {
		e.link.Refuse(from, "it has used channel %d of a window", h.Chan)
		return
	}
	ok := true
	switch h.Kind {
	case wire.WinLock:
		ok = w.lockAsked(int32(from), h.Flags&wire.Exclusive != 0)
	case wire.WinEpoch:
		ok = e.takeEpoch(from, w, h, payload)
	case wire.WinGrant:
		t := e.targetOf(from, h.Ctx)
		ok = t != nil && h.Aux <= uint32(class.ProcFailed) && w.granted(t, class.Class(h.Aux), int64(h.Arg))
	case wire.WinPost:
		ok = w.postedBy(int32(from))
	case wire.WinLeave:
		ok = w.left(int32(from))
	case wire.WinNotify:
		w.countHere(h.Counter())
	default:
		ok = e.server.Frame(from, &w.incoming, h, payload)
	}
	if !ok {
		e.link.Refuse(from, "it has sent a frame of kind %d when there was no reason for one", h.Kind)
	}
}

// postedBy takes the post of a member. A member that has made the window already may post before
// this process knows all members.
func (w *Window) postedBy(process int32) bool {
	if !w.opened {
		if slices.Contains(w.early, process) {
			return false
		}
		w.early = append(w.early, process)
		return true
	}
	t, err := w.targetLocked(w.Comm.RankOf(process))
	return err == nil && w.postArrived(t)
}

// open notes that all members are known. The lock is held.
func (w *Window) open() {
	w.opened = true
	for _, process := range w.early {
		w.postedBy(process)
	}
	w.early = nil
	w.openSync()
}

// Place implements fabric.Sink: answers are received into the memory of the origin. Puts are not:
// if the origin dies, half of an element could arrive (F2), and memory might be freed while a frame
// still writes there. Copying them from a buffer that was just received is faster than any
// connection.
func (e *Engine) Place(from int, h *wire.Header) []byte {
	if h.Kind != wire.WinReply || e.link.Refused(from) {
		return nil // Frame decides
	}
	return e.link.Place(from, h)
}

// Placed implements fabric.Sink.
func (e *Engine) Placed(from int, h *wire.Header) { e.link.Placed(from, h) }

// Down implements fabric.Sink. PeerFailed does the work.
func (e *Engine) Down(int, error) {}

// # Epochs in one frame, the target's side
//
// A WinEpoch asks for the lock like a WinLock and takes its place in the queue of lock.Service. If
// it has the lock at once, its operation is carried out, the lock is released, and one frame
// answers. Otherwise the operation is dropped and the request waits like others: an origin cannot
// make this process keep more than a request.

// takeEpoch takes a WinEpoch. It reports false if no correct process can have sent it.
func (e *Engine) takeEpoch(from int, w *Window, h *wire.Header, data []byte) bool {
	x, ok := serve.ReadEpoch(h, data)
	if !ok {
		return false
	}
	if !e.server.Admits(from) {
		return true
	}
	process := int32(from)
	if !w.queueLock(lock.Request{Process: process, Exclusive: h.Flags&wire.Exclusive != 0, Quiet: true}) {
		return false
	}
	if w.service.Speak(process) { // a WinGrant will answer it
		if planted.EpochUnheld {
			e.server.Run(&w.incoming, &x)
		}
		return true
	}
	if !w.service.Holds(process) {
		return true // it was told that a holder has died
	}
	a := e.server.Run(&w.incoming, &x)
	w.unlockAsked(process)
	e.server.Answer(from, &w.incoming, h, a)
	return true
}

// serveHost is an Engine as the owner of its server.
type serveHost Engine

// Window implements serve.Host.
func (h *serveHost) Window(id uint64) *serve.Window {
	if w := h.windows[id]; w != nil {
		return &w.incoming
	}
	return nil
}

// Ended implements serve.Host.
func (h *serveHost) Ended(served *serve.Window, from, epochs int, unlock bool) bool {
	w := h.windows[served.ID]
	for range epochs {
		if !w.completeArrived(int32(from)) {
			return false
		}
	}
	return !unlock || w.unlockAsked(int32(from))
}

// Count implements serve.Host.
func (h *serveHost) Count(served *serve.Window, counter int) { h.windows[served.ID].countHere(counter) }
