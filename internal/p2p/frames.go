package p2p

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/fabric"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/wire"
)

// Frame implements fabric.Sink. Nothing in a frame is trusted: names are looked
// up with their generation and must belong to a request that waits for this
// peer, else the frame is dropped; who sends what no correct process can send is
// taken down (Refuse).
func (e *Engine) Frame(from int, h *wire.Header, payload []byte) {
	src := int32(from)
	switch h.Kind {
	case wire.Eager, wire.EagerSync:
		if !e.charge(from, h) && !e.admit(from, h) {
			return
		}
		key := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
		if n := e.table.Arrive(key); n != nil {
			r := n.Owner
			r.envelope(src, h.Tag, uint64(len(payload)))
			r.judge(h.Aux, uint64(len(payload)))
			e.compareNext(src, r)
			r.mem.Unpack(payload, 0)
			e.received(src, h)
			e.finish(r, nil)
			return
		}
		m := e.eagerMessage(key, h)
		copy(m.data, payload)
		e.add(m)
	case wire.Ready:
		if !e.admit(from, h) {
			return
		}
		var addr uint64
		if len(payload) == 8 {
			addr = binary.LittleEndian.Uint64(payload)
		}
		key := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
		if n := e.table.Arrive(key); n != nil {
			r := n.Owner
			r.envelope(src, h.Tag, h.Arg)
			r.judge(h.Aux, h.Arg)
			e.compareNext(src, r)
			e.fetch(r, h.Name, addr, h.Arg)
			return
		}
		m := e.newMessage(key, h.Arg)
		m.name, m.addr, m.aux = h.Name, addr, h.Aux
		e.add(m)
	case wire.Clear:
		if r := e.names.Find(h.Name); r != nil && r.Send && r.peer == src && r.phase == phaseReady && !r.queued {
			e.peers[from].unanswered--
			e.stream(r, h.Arg, h.Ctx)
		}
	case wire.Ack:
		if r := e.names.Find(h.Name); r != nil && r.Send && r.peer == src && r.phase == phaseReady && !r.queued {
			e.peers[from].unanswered--
			e.drop(r)
			e.finish(r, nil)
		}
	case wire.Data:
		if r := e.filling(src, h); r != nil {
			r.mem.Unpack(payload, int(h.Arg))
			e.filled(r, len(payload))
		}
	case wire.Credit:
		q := &e.peers[from]
		if h.Arg > uint64(window-q.credit) {
			e.Refuse(from, "it has returned %d bytes of eager credit, and had %d", h.Arg, window-q.credit)
			return
		}
		q.credit += int(h.Arg)
	case wire.Revoke:
		e.withdraw(from, h)
	case wire.Revoked:
		if v := e.names.Find(h.Name); v != nil && v.peer == src && v.phase == phaseRevoke {
			e.revoked(v, h.Arg != 0)
		}
	case wire.Check:
		e.hear(from, payload)
	default:
		if e.other == nil || !h.Kind.OneSided() {
			e.Refuse(from, "it has sent a frame of kind %d, which is for nobody here", h.Kind)
			return
		}
		e.other.Frame(from, h, payload)
	}
}

// HandOver has s deliver the frames of one-sided communication, and hear of deaths
// after this engine has. Before Start.
func (e *Engine) HandOver(s fabric.Sink) { e.other = s }

// charge counts an eager message against what the peer may have with us (peer).
// If it reports false nothing is counted, and admit decides.
func (e *Engine) charge(from int, h *wire.Header) bool {
	q, cost := &e.peers[from], int(h.Size)+frameCost
	if h.Kind != wire.Eager || h.Tag < 0 || q.room < cost {
		return false
	}
	q.room -= cost
	return true
}

// admit does so for messages that want an answer and for the tags of collectives,
// and refuses what no correct process sends: then the frame is to be dropped.
func (e *Engine) admit(from int, h *wire.Header) bool {
	q := &e.peers[from]
	credited := h.Kind == wire.EagerSync && h.Flags&wire.Uncredited == 0
	if credited || h.Kind == wire.Eager {
		q.room -= int(h.Size) + frameCost
	}
	switch {
	case q.room < 0:
		return e.Refuse(from, "it has sent %d bytes beyond its eager credit of %d", -q.room, window)
	case h.Tag < 0 && (h.Tag == AnyTag || h.Ctx&1 == 0):
		return e.Refuse(from, "it has sent a message with tag %d", h.Tag)
	case h.Kind == wire.Eager:
		return true
	case h.Name == 0:
		return e.Refuse(from, "it has sent a message that wants an answer, and gives no name")
	case h.Kind == wire.EagerSync && !credited && h.Size > tiny:
		return e.Refuse(from, "it has sent %d bytes without eager credit, the limit is %d", h.Size, tiny)
	case h.Kind == wire.Ready && h.Arg > math.MaxInt64:
		return e.Refuse(from, "it has announced a message of %d bytes", h.Arg)
	}
	if q.asked++; q.asked > e.limit+window/frameCost { // the limit, and as many as credit pays for
		return e.Refuse(from, "it waits for the answer to more than %d messages", e.limit)
	}
	return true
}

// Refuse takes a peer down that has broken a rule. The fabric tells when it is
// done; what arrives until then is dropped, as far as it would take anything. It
// returns false.
func (e *Engine) Refuse(from int, format string, args ...any) bool {
	q := &e.peers[from]
	if !q.refused {
		q.refused = true
		e.p.Lose(from, fmt.Errorf("protocol: "+format, args...))
	}
	q.room = math.MinInt / 2 // never positive again: nothing is admitted
	return false
}

// intruder takes a peer down that has sent a message on a communicator of which it
// is no member. Only a wildcard matches such, and there is no rank to tell.
func (e *Engine) intruder(from int32) {
	e.Refuse(int(from), "it has sent a message on a communicator that it is not in")
}

// eagerMessage makes the unexpected message of an eager frame; its data are to
// be filled in.
func (e *Engine) eagerMessage(key match.Key, h *wire.Header) *Message {
	m := e.newMessage(key, uint64(h.Size))
	m.eager, m.aux = true, h.Aux
	e.room(m, int(h.Size))
	if h.Kind == wire.EagerSync {
		m.name, m.free = h.Name, h.Flags&wire.Uncredited != 0
	} else {
		m.addr = h.Arg
	}
	return m
}

// received answers an eager frame whose payload is where it belongs.
func (e *Engine) received(src int32, h *wire.Header) {
	if h.Kind == wire.EagerSync {
		e.ack(src, h.Name)
		if h.Flags&wire.Uncredited != 0 {
			return
		}
	}
	e.consumed(src, int(h.Size))
}

// filling returns the receive that the Data frame h belongs to.
func (e *Engine) filling(src int32, h *wire.Header) *Request {
	r := e.names.Find(h.Name)
	if r == nil || r.Send || r.phase != phaseFill || r.peer != src ||
		h.Arg > r.need || uint64(h.Size) > r.need-h.Arg || uint64(h.Size) > r.need-r.moved {
		return nil
	}
	return r
}

// Place implements fabric.Sink: matching happens when the header is here.
func (e *Engine) Place(from int, h *wire.Header) []byte {
	src := int32(from)
	q := &e.peers[from]
	if h.Size == 0 {
		return nil // nothing to place: Frame decides
	}
	switch h.Kind {
	case wire.Data:
		if r := e.filling(src, h); r != nil {
			if b, flat := r.mem.Bytes(); flat { // else Frame unpacks it
				q.placed = r
				return b[h.Arg : h.Arg+uint64(h.Size)]
			}
		}
	case wire.Eager, wire.EagerSync:
		if !e.charge(from, h) && !e.admit(from, h) {
			return nil // Frame will not either
		}
		key := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
		n := e.table.Arrive(key)
		var room []byte // of the receive, if it is contiguous
		if n != nil {
			room, _ = n.Owner.mem.Bytes()
		}
		if int(h.Size) <= len(room) {
			r := n.Owner
			r.envelope(src, h.Tag, uint64(h.Size))
			r.judge(h.Aux, uint64(h.Size))
			e.compareNext(src, r)
			if e.takes(r, uint64(h.Size)) {
				q.placed = r
				return room[:h.Size]
			}
			r.Status.Err = unwritable(room[:h.Size])
			m := e.eagerMessage(key, h)
			m.filling, m.claimed, m.wasted = true, r, true
			q.filling = m
			return m.data
		}
		m := e.eagerMessage(key, h)
		m.filling = true
		q.filling = m
		if n != nil {
			n.Owner.envelope(src, h.Tag, uint64(h.Size))
			n.Owner.judge(m.aux, m.size)
			e.compareKept(n.Owner, m)
			m.claimed = n.Owner
		} else {
			e.add(m)
		}
		return m.data
	default:
		if e.other != nil && h.Kind.OneSided() {
			return e.other.Place(from, h)
		}
	}
	return nil
}

// Placed implements fabric.Sink.
func (e *Engine) Placed(from int, h *wire.Header) {
	src := int32(from)
	q := &e.peers[from]
	switch {
	case q.filling != nil:
		m := q.filling
		q.filling = nil
		m.filling = false
		if r := m.claimed; r != nil {
			m.claimed = nil
			if !m.wasted {
				r.mem.Unpack(m.data, 0)
			}
			e.retire(m)
			e.finish(r, nil)
		} else if e.closing {
			e.retire(m)
		}
	case q.placed != nil:
		r := q.placed
		q.placed = nil
		if h.Kind == wire.Data {
			e.filled(r, int(h.Size))
			return
		}
		e.received(src, h)
		e.finish(r, nil)
	case h.Kind.OneSided():
		e.other.Placed(from, h)
	}
}

// gone is the error of an operation with a process that has died.
func gone(c *comm.Comm, peer int32, cause error) error {
	return &class.Error{Class: class.ProcFailed, Text: fmt.Sprintf("rank %d has failed: %v", c.RankOf(peer), cause), Cause: cause}
}

// lose ends a receive from a process that has died. What else was wrong with the
// message does not matter then: the buffer is not filled.
func (e *Engine) lose(r *Request, peer int32, cause error) {
	r.Status.Err = gone(r.comm, peer, cause)
	e.finish(r, nil)
}

// Down implements fabric.Sink: every operation that needs the peer fails.
func (e *Engine) Down(from int, cause error) {
	src := int32(from)
	e.p.SetDown(from, cause)
	e.dead = append(e.dead, src)
	q := &e.peers[from]
	q.credit, q.eager, q.unanswered = 0, -1, 0 // no send takes the short way any more
	if r := q.placed; r != nil {
		q.placed = nil
		e.drop(r)
		e.lose(r, src, cause)
	}
	if m := q.filling; m != nil {
		q.filling = nil
		r := m.claimed
		switch {
		case r != nil:
			e.lose(r, src, cause)
			e.freeMessage(m)
		case e.table.Remove(&m.node):
			e.freeMessage(m)
		default: // a matched probe holds it
			m.filling, m.eager = false, false
		}
	}
	for n := range e.table.Receives() {
		if n.Src == src || n.Src < 0 && n.Owner.comm.RankOf(src) >= 0 {
			e.table.Cancel(n)
			e.lose(n.Owner, src, cause)
		}
	}
	for m := range e.table.Messages() {
		if m.Src == src && !m.Owner.eager { // its payload will never come
			e.table.Remove(m)
			e.freeMessage(m.Owner)
		}
	}
	e.failPulls(src, cause)
	for i := range e.names.slots {
		if r := e.names.slots[i].is; r != nil && r.peer == src {
			if r.Send {
				e.failSend(r, cause)
			} else {
				e.drop(r)
				e.lose(r, src, cause)
			}
		}
	}
	for _, pr := range e.probes {
		if pr.key.Src == src || pr.key.Src < 0 {
			pr.Fire()
		}
	}
	if e.other != nil {
		e.other.Down(from, cause)
	}
}
