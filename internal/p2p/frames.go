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

// Frame implements fabric.Sink. It trusts nothing in a frame. A handle is looked up with
// its generation and must belong to a request that waits for this peer, otherwise the frame
// is dropped. A peer that sends what no correct process sends is taken down (Refuse).
func (e *Engine) Frame(from int, h *wire.Header, payload []byte) {
	src := int32(from)
	switch h.Kind {
	case wire.Eager, wire.EagerSync:
		q := e.peers.Find(from) // which inlines; At does not
		if q == nil {
			q = e.peers.At(from)
		}
		if (h.Kind != wire.Eager || !q.charge(h)) && !e.admit(from, h) {
			return
		}
		key := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
		if n := e.table.Arrive(key); n != nil {
			e.accept(n.Owner, q, src, h, payload)
			return
		}
		m := e.newEagerMessage(key, h)
		copy(m.data, payload)
		e.addUnexpected(m)
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
			r.setEnvelope(src, h.Tag, h.Arg)
			r.compareAux(h.Aux, h.Arg)
			e.compareNextClaim(src, r)
			e.fetch(r, h.Name, addr, h.Arg)
			return
		}
		m := e.newMessage(key, h.Arg)
		m.handle, m.addr, m.aux = h.Name, addr, h.Aux
		e.addUnexpected(m)
	case wire.Clear:
		if r := e.announced(src, h.Name); r != nil {
			e.peers.At(from).unanswered--
			e.stream(r, h.Arg, h.Ctx)
		}
	case wire.Ack:
		if r := e.announced(src, h.Name); r != nil {
			e.peers.At(from).unanswered--
			e.releaseHandle(r)
			e.finish(r, nil)
		}
	case wire.Assist:
		e.assist(from, h)
	case wire.Data:
		if r := e.findFill(src, h); r != nil {
			if h.Flags&wire.Unreadable != 0 {
				e.streamCut(r)
				return
			}
			if e.canWriteData(r, h) {
				r.mem.Unpack(payload, int(h.Arg))
			}
			e.dataArrived(r, len(payload))
		}
	case wire.Credit:
		q := e.peers.At(from)
		if h.Arg > uint64(creditMax-q.Credit) {
			e.Refuse(from, "it has returned %d bytes of eager credit, and had %d", h.Arg, creditMax-q.Credit)
			return
		}
		q.Credit += int(h.Arg)
	case wire.Revoke:
		e.answerRevoke(from, h)
	case wire.Revoked:
		if v := e.handles.Find(h.Name); v != nil && v.peer == src && v.phase == phaseRevoke {
			e.revokeAnswered(v, h.Arg != 0)
		}
	case wire.Check:
		e.receiveClaim(from, payload)
	default:
		switch {
		case h.Kind == wire.Leave && e.p.PeerLeft(from):
		case e.oneSided != nil && h.Kind.OneSided():
			e.oneSided.Frame(from, h, payload)
		case e.partitioned != nil && h.Kind.Partitioned():
			e.partitioned.Frame(from, h, payload)
		default:
			e.Refuse(from, "it has sent a frame of kind %d, which is for nobody here", h.Kind)
		}
	}
}

// SetOneSided sets the sink for the frames of one-sided communication. s.Down is called after
// this engine has handled the failure of a peer. It must be called before Start.
func (e *Engine) SetOneSided(s fabric.Sink) { e.oneSided = s }

// SetPartitioned is SetOneSided for the frames of partitioned communication.
func (e *Engine) SetPartitioned(s fabric.Sink) { e.partitioned = s }

// charge counts a message of kind Eager against the allowance of the peer, in the usual case. If
// it reports false nothing is counted, and the caller calls admit.
func (q *peer) charge(h *wire.Header) bool {
	cost := int(h.Size) + messageOverhead
	if h.Tag < 0 || q.Allowance < cost {
		return false
	}
	q.Allowance -= cost
	return true
}

// admit is the slow path of charge: it also counts messages that want an answer, and
// accepts the tags of collectives. It reports false for a message that no correct process
// sends: it has refused the peer, and the caller drops the frame.
func (e *Engine) admit(from int, h *wire.Header) bool {
	q := e.peers.At(from)
	credited := h.Kind == wire.EagerSync && h.Flags&wire.Uncredited == 0
	if credited || h.Kind == wire.Eager {
		q.Allowance -= int(h.Size) + messageOverhead
	}
	switch {
	case q.Allowance < 0:
		return e.Refuse(from, "it has sent %d bytes beyond its eager credit of %d", -q.Allowance, creditMax)
	case h.Tag < 0 && (h.Tag == AnyTag || h.Ctx&1 == 0):
		return e.Refuse(from, "it has sent a message with tag %d", h.Tag)
	case h.Kind == wire.Eager:
		return true
	case h.Name == 0:
		return e.Refuse(from, "it has sent a message that wants an answer, and gives no name")
	case h.Kind == wire.EagerSync && !credited && h.Size > uncreditedMax:
		return e.Refuse(from, "it has sent %d bytes without eager credit, the limit is %d", h.Size, uncreditedMax)
	case h.Kind == wire.Ready && h.Arg > math.MaxInt64:
		return e.Refuse(from, "it has announced a message of %d bytes", h.Arg)
	}
	q.peerUnanswered++
	if q.peerUnanswered > e.unansweredLimit+creditMax/messageOverhead { // the limit, and those that credit pays for
		return e.Refuse(from, "it waits for the answer to more than %d messages", e.unansweredLimit)
	}
	return true
}

// Refuse takes a peer down that has broken the protocol, and returns false. The fabric calls
// Down when the peer is down; until then frames that would cost memory are dropped.
func (e *Engine) Refuse(from int, format string, args ...any) bool {
	q := e.peers.At(from)
	if !q.refused {
		q.refused = true
		e.p.Lose(from, fmt.Errorf("protocol: "+format, args...))
	}
	q.Allowance = math.MinInt / 2 // never positive again: admit accepts nothing
	return false
}

// refuseNonMember takes a peer down that has sent a message on a communicator of which it
// is no member. Only a wildcard receive matches such a message, and the status has no rank
// for it.
func (e *Engine) refuseNonMember(from int32) {
	e.Refuse(int(from), "it has sent a message on a communicator that it is not in")
}

// newEagerMessage returns the unexpected message of an eager frame. The caller copies the
// payload to its data.
func (e *Engine) newEagerMessage(key match.Key, h *wire.Header) *Message {
	m := e.newMessage(key, uint64(h.Size))
	m.eager, m.aux = true, h.Aux
	e.allocData(m, int(h.Size))
	if h.Kind == wire.EagerSync {
		m.handle, m.uncredited = h.Name, h.Flags&wire.Uncredited != 0
	} else {
		m.addr = h.Arg
	}
	return m
}

// eagerConsumed answers an eager frame whose payload is in the receive buffer.
func (e *Engine) eagerConsumed(q *peer, src int32, h *wire.Header) {
	if h.Kind == wire.EagerSync {
		e.ack(src, h.Name)
		if h.Flags&wire.Uncredited != 0 {
			return
		}
	}
	e.returnCredit(q, src, int(h.Size))
}

// findFill returns the receive that the Data frame h belongs to, nil if there is none or h
// exceeds it.
func (e *Engine) findFill(src int32, h *wire.Header) *Request {
	r := e.handles.Find(h.Name)
	if r == nil || r.Send || r.phase != phaseFill || r.peer != src ||
		h.Arg > r.need || uint64(h.Size) > r.need-h.Arg || uint64(h.Size) > r.need-r.moved {
		return nil
	}
	return r
}

// Place implements fabric.Sink: a message is matched when its header has arrived.
func (e *Engine) Place(from int, h *wire.Header) []byte {
	src := int32(from)
	q := e.peers.At(from)
	if h.Size == 0 {
		return nil // nothing to place: Frame handles it
	}
	switch h.Kind {
	case wire.Data:
		if r := e.findFill(src, h); r != nil {
			if b, contiguous := r.mem.Bytes(); contiguous && e.canWriteData(r, h) { // else Frame unpacks or discards it
				q.placedRecv = r
				return b[h.Arg : h.Arg+uint64(h.Size)]
			}
		}
	case wire.Eager, wire.EagerSync:
		if (h.Kind != wire.Eager || !e.peers.At(from).charge(h)) && !e.admit(from, h) {
			return nil // Frame does not admit it either
		}
		key := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
		n := e.table.Arrive(key)
		var room []byte // of the receive, if it is contiguous
		if n != nil {
			room, _ = n.Owner.mem.Bytes()
		}
		if int(h.Size) <= len(room) {
			r := n.Owner
			r.setEnvelope(src, h.Tag, uint64(h.Size))
			r.compareAux(h.Aux, uint64(h.Size))
			e.compareNextClaim(src, r)
			if e.canWriteEnds(r, uint64(h.Size)) { // which tests all of it: it is no longer than that
				q.placedRecv = r
				return room[:h.Size]
			}
			r.Status.Err = unwritable(room[:h.Size])
			m := e.newEagerMessage(key, h)
			m.arriving, m.receiver, m.discard = true, r, true
			q.placedMessage = m
			return m.data
		}
		m := e.newEagerMessage(key, h)
		m.arriving = true
		q.placedMessage = m
		if n != nil {
			n.Owner.setEnvelope(src, h.Tag, uint64(h.Size))
			n.Owner.compareAux(m.aux, m.size)
			e.compareMessageClaim(n.Owner, m)
			m.receiver = n.Owner
		} else {
			e.addUnexpected(m)
		}
		return m.data
	default:
		if e.oneSided != nil && h.Kind.OneSided() {
			return e.oneSided.Place(from, h)
		}
		if e.partitioned != nil && h.Kind.Partitioned() {
			return e.partitioned.Place(from, h)
		}
	}
	return nil
}

// Placed implements fabric.Sink.
func (e *Engine) Placed(from int, h *wire.Header) {
	src := int32(from)
	q := e.peers.At(from)
	switch {
	case q.placedMessage != nil:
		m := q.placedMessage
		q.placedMessage = nil
		m.arriving = false
		if r := m.receiver; r != nil {
			m.receiver = nil
			if !m.discard {
				r.mem.Unpack(m.data, 0)
			}
			e.releaseEager(m)
			e.finish(r, nil)
		} else if e.drains(m.node.Ctx) || m.discard {
			e.releaseEager(m)
		}
	case q.placedRecv != nil:
		r := q.placedRecv
		q.placedRecv = nil
		if h.Kind == wire.Data {
			e.dataArrived(r, int(h.Size))
			return
		}
		e.eagerConsumed(e.peers.At(from), src, h)
		e.finish(r, nil)
	case h.Kind.OneSided():
		e.oneSided.Placed(from, h)
	case h.Kind.Partitioned():
		e.partitioned.Placed(from, h)
	}
}

// peerFailed is the error of an operation with a process that has failed.
func peerFailed(c *comm.Comm, peer int32, cause error) error {
	return class.Errorf(class.ProcFailed, "rank %d has failed: %w", c.RankOf(peer), cause)
}

// failRecv completes a receive from a process that has failed. The failure replaces any
// earlier error of the message, since the buffer is not filled.
func (e *Engine) failRecv(r *Request, peer int32, cause error) {
	r.Status.Err = peerFailed(r.comm, peer, cause)
	e.finish(r, nil)
}

// Down implements fabric.Sink: every operation that needs the peer fails.
func (e *Engine) Down(from int, cause error) {
	src := int32(from)
	e.p.SetDown(from, cause)
	e.dead = append(e.dead, src)
	q := e.peers.At(from)
	q.Credit, q.EagerMax, q.unanswered = 0, -1, 0 // no send takes the fast path any more
	if r := q.placedRecv; r != nil {
		q.placedRecv = nil
		e.releaseHandle(r)
		e.failRecv(r, src, cause)
	}
	if m := q.placedMessage; m != nil {
		q.placedMessage = nil
		r := m.receiver
		switch {
		case r != nil:
			e.failRecv(r, src, cause)
			e.freeMessage(m)
		case e.table.Remove(&m.node):
			e.freeMessage(m)
		default: // a matched probe holds it
			m.arriving, m.eager = false, false
		}
	}
	for n := range e.table.Receives() {
		if n.Src == src || n.Src < 0 && n.Owner.comm.RankOf(src) >= 0 {
			e.table.Cancel(n)
			e.failRecv(n.Owner, src, cause)
		}
	}
	for m := range e.table.Messages() {
		if m.Src == src && !m.Owner.eager { // its payload never arrives
			e.table.Remove(m)
			e.freeMessage(m.Owner)
		}
	}
	e.failPulls(src, cause)
	for i := range e.handles.slots {
		if r := e.handles.slots[i].value; r != nil && r.peer == src {
			if r.Send {
				e.failSend(r, cause)
			} else {
				e.releaseHandle(r)
				e.failRecv(r, src, cause)
			}
		}
	}
	for _, pr := range e.probes {
		if pr.key.Src == src || pr.key.Src < 0 {
			pr.Fire()
		}
	}
	if e.oneSided != nil {
		e.oneSided.Down(from, cause)
	}
	if e.partitioned != nil {
		e.partitioned.Down(from, cause)
	}
}
