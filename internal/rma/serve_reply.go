package rma

import (
	"errors"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/memhandle"
	"github.com/halo-mpi/halo/internal/wire"
)

// reply is an answer that waits in the send queue. It holds a copy: memory of a window may be freed
// meanwhile.
type reply struct {
	e     *Engine
	to    int
	what  replyKind
	page  []byte // of takePage, nil if short is enough
	short [maxElement]byte
}

// replyKind says which state of the peer a reply in the send queue counts in.
type replyKind uint8

const (
	replyToRequest replyKind = iota // one of the peer's requests
	replyFault                      // linkPeer.telling
	replyPiece                      // linkPeer.piece
)

// newReply returns an empty reply.
func (e *Engine) newReply() *reply {
	if n := len(e.free); n > 0 {
		r := e.free[n-1]
		e.free = e.free[:n-1]
		return r
	}
	return &reply{e: e}
}

// room returns memory of the reply for n bytes, at most wire.MaxPayload.
func (r *reply) room(n int) []byte {
	if n <= len(r.short) {
		return r.short[:n]
	}
	r.page = r.e.takePage()
	return r.page[:n]
}

// drop frees a reply.
func (r *reply) drop() {
	e := r.e
	if r.page != nil {
		e.givePage(r.page)
		r.page = nil
	}
	r.what = replyToRequest
	if len(e.free) < requestsMax {
		e.free = append(e.free, r)
	}
}

// Sent implements proc.Sent.
func (r *reply) Sent(error) {
	q := r.e.peers.At(int(r.to))
	switch r.what {
	case replyToRequest:
		q.asked--
	case replyFault:
		q.telling = false
	case replyPiece:
		q.piece = false
	}
	r.drop()
}

// admits reports whether a peer may make one more request, and takes it down if not.
func (e *Engine) admits(from int) bool {
	if e.peers.At(from).asked < requestsMax {
		return true
	}
	e.refuse(from, "it waits for the answers to more than %d requests", requestsMax)
	return false
}

// answer sends the data for a request.
func (e *Engine) answer(from int, h *wire.Header, r *reply, data []byte) {
	e.hdr = wire.Header{Kind: wire.WinReply, Ctx: h.Ctx, Name: h.Name}
	e.give(from, r, data)
}

// acknowledge answers a put or accumulate that is done, if the origin wants an answer.
func (e *Engine) acknowledge(from int, h *wire.Header) {
	if h.Flags&wire.Acknowledge != 0 && e.admits(from) {
		e.answer(from, h, e.newReply(), nil)
	}
}

// give sends a frame with header e.hdr, or leaves it in the send queue; r holds its payload.
func (e *Engine) give(to int, r *reply, payload []byte) {
	e.hdr.Size = uint32(len(payload))
	if e.p.Send(to, &e.hdr, payload) {
		r.drop()
		return
	}
	q := e.peers.At(int(to))
	r.to = to
	switch r.what {
	case replyToRequest:
		q.asked++
	case replyFault:
		q.telling = true
	case replyPiece:
		q.piece = true
	}
	e.p.Push(to, &e.hdr, payload, r)
}

// fault describes why memory that a frame accesses is not there.
func (w *Window) fault(h *wire.Header, size uint64, err error) *fault {
	f := &fault{class: class.RMARange, kind: h.Kind, off: h.Arg, size: size, limit: uint64(len(w.mem))}
	if w.dynamic != nil && h.Arg < memhandle.Space && runsIn(h) == 0 {
		f.limit = w.dynamic.Gap(h.Arg)
	}
	var why *class.Error
	if errors.As(err, &why) && why.Class == class.RMAAttach {
		f.class = class.RMAAttach
	}
	return f
}

// stale answers a frame for a window that does not exist here, or not any more.
func (e *Engine) stale(from int, h *wire.Header, payload []byte) {
	f := fault{class: class.Win, kind: h.Kind}
	switch h.Kind {
	case wire.WinPut, wire.WinAcc:
		if h.Flags&(wire.ThenFlush|wire.ThenUnlock) != 0 {
			e.sendDone(from, h.Ctx, h.Chan, h.Name, &f)
			return
		}
		fallthrough
	case wire.WinCas, wire.WinGet, wire.WinNotify:
		e.deny(from, nil, h, &f)
	case wire.WinFlush:
		e.sendDone(from, h.Ctx, h.Chan, h.Arg, &f)
	case wire.WinEpoch:
		f.kind = wire.WinLock
		e.sendDone(from, h.Ctx, h.Chan, h.Name, &f)
	case wire.WinUnlock:
		if h.Flags&wire.Answer != 0 {
			e.sendDone(from, h.Ctx, h.Chan, h.Arg, &f)
		}
	case wire.WinLock:
		if e.admits(from) {
			e.hdr = wire.Header{Kind: wire.WinGrant, Ctx: h.Ctx, Aux: uint32(class.Win)}
			e.give(from, e.newReply(), nil)
		}
	}
}

// errReach says that data reach beyond 64 bits.
var errReach = errors.New("beyond 64 bits")

// deny reports to the sender of a frame that nothing has been done: at once if the frame was a
// request, or if no other fault is being sent; otherwise with its next flush on w. w is nil if
// there is no such window.
func (e *Engine) deny(from int, w *Window, h *wire.Header, f *fault) {
	q := e.peers.At(from)
	if w != nil && h.Flags&(wire.ThenNotify|wire.Notifies) != 0 {
		w.breaks(from, h)
	}
	r := e.newReply()
	name := uint64(0)
	switch asks := h.Kind == wire.WinGet || h.Kind == wire.WinCas || h.Kind == wire.WinAcc && h.Flags&wire.WithResult != 0 || h.Flags&wire.Acknowledge != 0; {
	case asks && !e.admits(from):
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
				w.faults = make(map[faultKey]fault)
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
	e.hdr = wire.Header{Kind: wire.WinFault, Chan: h.Chan, Ctx: h.Ctx, Name: name}
	b := r.room(faultSize)
	f.encode(&e.hdr, b)
	e.give(from, r, b)
}

// faultKey identifies the operations that a fault is of: the process that has sent them, and the
// channel.
type faultKey struct {
	process int32
	channel uint16
}

// answerFlush answers that all up to a flush or unlock of a channel, number at, is done.
func (e *Engine) answerFlush(from int, w *Window, channel uint16, at uint64) {
	if len(w.faults) > 0 {
		k := faultKey{int32(from), channel}
		if f, ok := w.faults[k]; ok {
			delete(w.faults, k)
			e.sendDone(from, w.id, channel, at, &f)
			return
		}
	}
	e.sendDone(from, w.id, channel, at, nil)
}

// sendDone is answerFlush, with a fault unless that is nil.
func (e *Engine) sendDone(from int, window uint64, channel uint16, at uint64, f *fault) {
	if !e.admits(from) {
		return
	}
	r := e.newReply()
	e.hdr = wire.Header{Kind: wire.WinDone, Chan: channel, Ctx: window, Arg: at}
	var payload []byte
	if f != nil {
		payload = r.room(faultSize)
		f.encode(&e.hdr, payload)
		e.hdr.Flags = wire.Faulty
	}
	e.give(from, r, payload)
}

// pendingGet is a contiguous get that is being answered. The window is looked up again for each
// piece: it, or the memory, may be gone by then.
type pendingGet struct {
	window    uint64
	off       uint64
	size, got int64 // size is not 0, but for an end
	name      uint64
	notice    uint32 // as Op.Notify
	end       ending // of an epoch, behind the gets before
}

// queueGet begins to answer a get, and leaves the rest to Work.
func (e *Engine) queueGet(from int, g pendingGet) {
	q := e.peers.At(from)
	if len(q.gets) == q.next && e.answerGet(from, &g) {
		return
	}
	if len(q.gets) == q.next {
		e.answering = append(e.answering, from)
		e.p.SetBusy(1)
	}
	q.gets = append(q.gets, g)
	q.asked++
}

// answerGets sends more of the answers to the gets of all peers, in turn.
func (e *Engine) answerGets() int {
	n := 0
	for i := 0; i < len(e.answering); i++ {
		from := e.answering[i]
		q := e.peers.At(from)
		for turn := 0; turn < queueTurn/frameCost && q.next < len(q.gets); turn++ {
			g := &q.gets[q.next]
			if g.size == 0 {
				q.next++
				n++
				if w := e.windows[g.window]; w != nil && !q.refused && !e.endNow(from, w, g.end) {
					e.refuse(from, "it has ended an epoch that was not open")
				}
				continue
			}
			before := g.got
			all := e.answerGet(from, g)
			if all || g.got != before {
				n++
			}
			turn += int(g.got-before) / frameCost
			if !all {
				break
			}
			q.asked--
			q.next++
		}
		if q.next == len(q.gets) {
			q.gets, q.next = q.gets[:0], 0
			last := len(e.answering) - 1
			e.answering[i] = e.answering[last]
			e.answering = e.answering[:last]
			e.p.SetBusy(-1)
			i--
		}
	}
	return n
}

// answerGet sends pieces of the answer to g, straight from the window, and reports whether these
// were the last.
func (e *Engine) answerGet(from int, g *pendingGet) bool {
	q := e.peers.At(from)
	h := &e.hdr
	chunk := int64(e.p.ChunkMax(from))
	for turn := g.got + queueTurn; g.got < turn; {
		if q.piece {
			return false
		}
		w := e.windows[g.window]
		ask := wire.Header{Kind: wire.WinGet, Ctx: g.window, Arg: g.off, Name: g.name}
		if w == nil {
			e.deny(from, nil, &ask, &fault{class: class.Win, kind: wire.WinGet})
			return true
		}
		region, at, err := w.place(g.off, g.size)
		if err != nil {
			e.deny(from, w, &ask, w.fault(&ask, uint64(g.size), err))
			return true
		}
		left := region.Mem[at+g.got : at+g.size]
		*h = wire.Header{Kind: wire.WinReply, Ctx: g.window, Name: g.name, Arg: uint64(g.got)}
		if int64(len(left)) > chunk {
			e.iov[0] = left
			taken := e.p.SendRun(from, h, e.iov[:1])
			e.iov[0] = nil
			g.got += int64(taken)
			h.Arg += uint64(taken)
			left = left[taken:]
			if len(left) == 0 {
				w.countFor(g)
				return true
			}
		}
		left = left[:min(int64(len(left)), chunk)]
		g.got += int64(len(left))
		h.Size = uint32(len(left))
		if !e.p.Send(from, h, left) {
			r := e.newReply()
			r.what, r.to = replyPiece, from
			q.piece = true
			copied := r.room(len(left))
			copy(copied, left)
			e.p.Push(from, h, copied, r)
		}
		if g.got == g.size {
			w.countFor(g)
			return true
		}
	}
	return false
}
