package serve

import (
	"errors"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// errReach says that data reach beyond 64 bits.
var errReach = errors.New("beyond 64 bits")

// fault describes why memory that a frame accesses is not there.
func (w *Window) fault(h *wire.Header, size uint64, err error) *operation.Fault {
	f := &operation.Fault{Class: class.RMARange, Kind: h.Kind, Off: h.Arg, Size: size, Limit: uint64(len(w.Own.Mem))}
	if w.Attached != nil && h.Arg < memhandle.Space && runsIn(h) == 0 {
		f.Limit = w.Attached.Gap(h.Arg)
	}
	var why *class.Error
	if errors.As(err, &why) && why.Class == class.RMAAttach {
		f.Class = class.RMAAttach
	}
	return f
}

// deny reports to the sender of a frame that nothing has been done: at once if the frame was a
// request, or if no other fault is being sent; otherwise with its next flush on w. w is nil if
// there is no such window.
func (s *Server) deny(from int, w *Window, h *wire.Header, f *operation.Fault) {
	q := s.peers.At(from)
	if w != nil && h.Flags&(wire.ThenNotify|wire.Notifies) != 0 {
		w.breaks(from, h)
	}
	r := s.newReply()
	name := uint64(0)
	switch asks := h.Kind == wire.WinGet || h.Kind == wire.WinCas || h.Kind == wire.WinAcc && h.Flags&wire.WithResult != 0 || h.Flags&wire.Acknowledge != 0; {
	case asks && !s.Admits(from):
		r.drop()
		return
	case asks:
		name = h.Name
		if planted.FaultMisnamed {
			name ^= 1
		}
	case q.telling:
		r.drop()
		if w != nil {
			if w.faults == nil {
				w.faults = make(map[faultKey]operation.Fault)
			}
			k := faultKey{int32(from), h.Chan}
			if _, ok := w.faults[k]; !ok {
				w.faults[k] = *f
			}
		}
		return
	default:
		r.what = replyFault
	}
	s.hdr = wire.Header{Kind: wire.WinFault, Chan: h.Chan, Ctx: h.Ctx, Name: name}
	b := r.room(operation.FaultSize)
	f.Encode(&s.hdr, b)
	s.give(from, r, b)
}

// faultKey identifies the operations that a fault is of: the process that has sent them, and the
// channel.
type faultKey struct {
	process int32
	channel uint16
}

// answerFlush answers that all up to a flush or unlock of a channel, number at, is done.
func (s *Server) answerFlush(from int, w *Window, channel uint16, at uint64) {
	if len(w.faults) > 0 {
		k := faultKey{int32(from), channel}
		if f, ok := w.faults[k]; ok {
			delete(w.faults, k)
			s.sendDone(from, w.ID, channel, at, &f)
			return
		}
	}
	s.sendDone(from, w.ID, channel, at, nil)
}

// sendDone is answerFlush, with a fault unless that is nil.
func (s *Server) sendDone(from int, window uint64, channel uint16, at uint64, f *operation.Fault) {
	if !s.Admits(from) {
		return
	}
	r := s.newReply()
	s.hdr = wire.Header{Kind: wire.WinDone, Chan: channel, Ctx: window, Arg: at}
	var payload []byte
	if f != nil {
		payload = r.room(operation.FaultSize)
		f.Encode(&s.hdr, payload)
		s.hdr.Flags = wire.Faulty
	}
	s.give(from, r, payload)
}

// Stale answers a frame for a window that does not exist here, or not any more.
func (s *Server) Stale(from int, h *wire.Header, payload []byte) {
	f := operation.Fault{Class: class.Win, Kind: h.Kind}
	switch h.Kind {
	case wire.WinPut, wire.WinAcc:
		if h.Flags&(wire.ThenFlush|wire.ThenUnlock) != 0 {
			s.sendDone(from, h.Ctx, h.Chan, h.Name, &f)
			return
		}
		fallthrough
	case wire.WinCas, wire.WinGet, wire.WinNotify:
		s.deny(from, nil, h, &f)
	case wire.WinFlush:
		s.sendDone(from, h.Ctx, h.Chan, h.Arg, &f)
	case wire.WinEpoch:
		f.Kind = wire.WinLock
		s.sendDone(from, h.Ctx, h.Chan, h.Name, &f)
	case wire.WinUnlock:
		if h.Flags&wire.Answer != 0 {
			s.sendDone(from, h.Ctx, h.Chan, h.Arg, &f)
		}
	case wire.WinLock:
		if s.Admits(from) {
			s.hdr = wire.Header{Kind: wire.WinGrant, Ctx: h.Ctx, Aux: uint32(class.Win)}
			s.give(from, s.newReply(), nil)
		}
	}
}

// breaks notes that a frame of an operation with a notification is refused.
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
