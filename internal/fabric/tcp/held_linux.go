package tcp

import (
	"slices"

	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/sys"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Held frames
//
// A system call costs as much as the copies of dozens of short frames. Therefore a link can hold short
// frames: it copies them to one buffer (link.held), which one system call sends. Frames are held
//
//   - by Hold, until Release, Arm, Close, or the next Send to the same peer, which sends the held frames
//     and its own at once;
//   - while the frames of one read are delivered: what the sink answers to several requests is sent when
//     all of them are delivered;
//   - on a sealed connection, while there is no room for the rest of a record: a frame is sealed once,
//     since the number of a record must not be used again.
//
// Invariants: frames leave in the order in which they were accepted, since nothing is sent beside held
// while held is not empty. A link with held frames is in Fabric.holding. If there is no room for all of
// them, the link is blocked: it accepts no further frame, and the next Poll, for which Sleep waits,
// sends the rest.

var _ fabric.Holder = (*Fabric)(nil)

// Hold implements fabric.Holder.
func (f *Fabric) Hold(to int, h *wire.Header, payload []byte) bool {
	l := f.routes.At(to).link
	if l == nil || l.left || l.broken != nil || l.mem || l.blocked || l.sent > 0 || h.Kind == wire.Leave {
		return false
	}
	return short(payload) && l.hold(f, h, payload)
}

// Release implements fabric.Holder.
func (f *Fabric) Release(to int) {
	if l := f.routes.At(to).link; l != nil && l.held != nil {
		l.flush(f)
	}
}

// short reports whether a frame is copied to be sent.
func short(payload []byte) bool { return wire.HeaderSize+len(payload) <= packMax }

// sendHeld is send of a frame that is sealed, that follows held frames, or that is an answer.
func (l *link) sendHeld(f *Fabric, h *wire.Header, payload []byte) bool {
	if l.broken == nil && !l.hold(f, h, payload) {
		if !l.flush(f) {
			return l.refuse(f, h)
		}
		if l.broken == nil {
			l.hold(f, h, payload)
		}
	}
	if l.broken == nil && !(f.delivering && short(payload)) {
		l.flush(f)
	}
	return true
}

// hold adds a frame to those that are held, and reports whether there is room for it.
func (l *link) hold(f *Fabric, h *wire.Header, payload []byte) bool {
	if l.held == nil {
		l.held = f.buffer()[:0]
		f.holding = append(f.holding, l)
	}
	n, size := len(l.held), wire.HeaderSize+len(payload)
	switch {
	case l.seal == nil && n+size <= cap(l.held):
		l.held = l.held[:n+size]
		h.Encode(l.held[n:])
		copy(l.held[n+wire.HeaderSize:], payload)
	case l.seal != nil && n+size+wire.RecordOverhead <= cap(l.held):
		l.held = l.seal.Seal(l.held, h, payload)
	default:
		return false
	}
	return true
}

// flush sends the held frames with one system call, and reports whether all are sent, or dropped
// because the connection is broken.
func (l *link) flush(f *Fabric) bool {
	f.calls++
	n, e := sys.Send(l.fd, l.held[l.heldSent:])
	switch {
	case e == 0:
		l.heldSent += n
		if l.heldSent < len(l.held) {
			l.block(f)
			return false
		}
		l.accept(f)
	case again(e):
		l.block(f)
		return false
	default:
		l.broken, f.broken = e, true
	}
	l.drop(f)
	return true
}

// finish sends the held frames, and ends the stream to the peer behind them.
func (l *link) finish(f *Fabric) {
	if l.held == nil || l.flush(f) {
		sys.ShutdownWrite(l.fd)
	}
}

// drop returns the buffer of the held frames.
func (l *link) drop(f *Fabric) {
	if l.held == nil {
		return
	}
	f.bufs = append(f.bufs, l.held[:cap(l.held)])
	l.held, l.heldSent = nil, 0
	f.holding = slices.DeleteFunc(f.holding, func(o *link) bool { return o == l })
}

// sendAnswers sends the frames that were held while the frames of one read were delivered. Frames of
// Hold go with them.
func (f *Fabric) sendAnswers() {
	for i := len(f.holding) - 1; i >= 0; i-- { // backwards: flush may remove the current one
		if l := f.holding[i]; !l.blocked {
			l.flush(f)
		}
	}
}

// sendBlocked sends what there is room for of the held frames of blocked links, and returns from how
// many links all are sent.
func (f *Fabric) sendBlocked() (n int) {
	for i := len(f.holding) - 1; i >= 0; i-- {
		if l := f.holding[i]; l.blocked && l.flush(f) {
			n++
		}
	}
	return n
}
