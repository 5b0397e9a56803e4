package rma

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// Notified access. When an operation is complete at the target, a counter there is incremented. A
// thread that reads the new value sees the data that were put and accumulated, and may change the
// data that were read. An operation of no bytes is the notification alone. An operation that fails
// notifies nobody.

// signal is an operation that has only the notification of o, with the request of o.
func (o *Op) signal() *Op { return &Op{Kind: kindSignal, Notify: o.Notify, Done: o.Done, Call: o.Call} }

// made notifies the target of an access that the caller has carried out, and returns its request.
func (v *View) made(t *target, a *Op) (*p2p.Request, error) {
	if a.Notify == 0 || t.count(int(a.Notify-1), false) {
		return v.done(a), nil
	}
	return v.w.e.submit(v, t, a.signal(), 0, (*Engine).dispatch)
}

// nothingAt is an access to no bytes of t, in an epoch in which its gate is g: only the
// notification is left.
func (v *View) nothingAt(t *target, a *Op, g gate) (*p2p.Request, error) {
	if a.Notify == 0 || g&gateOpen != 0 {
		return v.made(t, a)
	}
	return v.w.e.submit(v, t, a.signal(), 0, (*Engine).postpone)
}

// performed ends an operation that was deferred and has been carried out. The lock is held.
func (e *Engine) performed(o *operation, err error) {
	if err == nil && o.Notify != 0 && !o.target.count(int(o.Notify-1), true) {
		o.Op = Op{Kind: kindSignal, Notify: o.Notify}
		e.dispatch(o)
		return
	}
	e.end(o, err)
}

// Signal adds 1 to a counter of a target, when everything is complete at the target that this
// process has started there through v, and through views that share its channel: put and
// accumulated, and read. It needs no epoch, and does not wait.
//
// Cost where the target is mapped and nothing is under way: one atomic operation, and a system call
// if the target sleeps for it. Else a frame, behind everything that was sent before.
func (v *View) Signal(target, counter int) error {
	t, err := v.signalled(target, counter)
	if t == nil || err != nil {
		return err
	}
	if _, err := v.w.lazyNow(t, call.Signal); err != nil {
		return err
	}
	if t.settled() && t.rec.Gate.Load() != gateWaiting && t.count(counter, false) {
		return nil
	}
	_, err = v.w.e.submit(v, t, &Op{Kind: kindSignal, Notify: notification(counter)}, 0, (*Engine).postpone)
	return err
}

// signalled is the target of a signal, nil for ProcNull.
func (v *View) signalled(rank, counter int) (*target, error) {
	if err := v.w.live(); err != nil {
		return nil, err
	}
	if err := counterExists(counter); err != nil || rank == ProcNull {
		return nil, err
	}
	return v.w.target(rank)
}

// signal makes a notification alone, behind everything of its channel. The lock is held.
func (e *Engine) signal(o *operation) {
	t := o.target
	if t.control != nil && (!t.rec.Framed.Load() || o.channel.idle() || planted.SignalPassed) && t.count(int(o.Notify-1), true) {
		e.end(o, nil)
		return
	}
	e.dispatch(o)
}

// sendSignal sends a notification alone, with the coalesced frame for the target if there is one.
// The lock is held.
func (e *Engine) sendSignal(o *operation) {
	c := o.channel
	c.quiet = o.at
	if !c.reading(o) && e.releaseThen(c, wire.ThenNotify, uint64(o.Notify-1)) {
		e.finish(o, nil)
		return
	}
	e.release(c)
	e.enqueue(o)
}

// reading reports whether a get before o is being answered in pieces: only such a get may still
// read the target's memory when a later frame is handled there.
func (c *channel) reading(o *operation) bool {
	for x := c.oldest; x != nil && x != o; x = x.next {
		if x.streamed() {
			return true
		}
	}
	return false
}

// noticed marks the frame in e.hdr, which is the next of o, if o has a notification: the last frame
// names the counter.
func (e *Engine) noticed(o *operation) {
	switch {
	case o.Notify == 0:
	case o.moved == o.size():
		e.hdr.Flags |= wire.ThenNotify
		e.hdr.SetCounter(int(o.Notify - 1))
	default:
		e.hdr.Flags |= wire.Notifies
	}
}

// runsIn is the number of runs in front of a payload.
func runsIn(h *wire.Header) int {
	if h.Flags&wire.ThenNotify != 0 {
		return h.Runs()
	}
	return int(h.Tag)
}

// breaks notes that a frame of an operation with a notification is refused. The lock is held.
func (w *Window) breaks(from int, h *wire.Header) {
	if w.broken == nil {
		w.broken = make(map[faultKey]bool)
	}
	w.broken[faultKey{int32(from), h.Chan}] = true
}

// whole reports whether all frames of the operation have been accepted whose last one is h. The
// lock is held.
func (w *Window) whole(from int, h *wire.Header) bool {
	if len(w.broken) == 0 {
		return true
	}
	k := faultKey{int32(from), h.Chan}
	broken := w.broken[k]
	delete(w.broken, k)
	return !broken
}

// countFor counts the notification of a get that has been answered. The lock is held.
func (w *Window) countFor(g *pendingGet) {
	if g.notice != 0 {
		w.countHere(int(g.notice - 1))
	}
}
