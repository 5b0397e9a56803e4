package p2p

import (
	"encoding/binary"
	"unsafe"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// Send sends buf, elements of a code, to rank dest. It returns when buf may be reused, and in
// Synchronous mode when a receive has matched. It takes the lock.
//
// A short message to a process of the node costs one entry in its ring.
func (e *Engine) Send(c *comm.Comm, mode Mode, code dtype.Code, buf []byte, dest int, tag int32) error {
	e.p.Lock()
	to := c.Members[dest]
	if len(buf) > copiedMax && !e.canRead(to, buf) {
		e.p.Unlock()
		return unreadable(buf)
	}
	var r *Request
	eager := mode <= Ready && to != e.me
	q := e.peers.Find(int(to))
	if eager && (q == nil || !q.takeCredit(len(buf))) {
		e.Replenish(to, len(buf))
		q = e.peers.At(int(to))
		eager = q.takeCredit(len(buf))
	}
	if eager {
		h := e.eagerHeader(c.Ctx, tag, uint32(code), len(buf))
		var sent bool
		if rings := e.p.Direct(int(to)); rings != nil {
			sent = rings.Post(int(to), h, buf)
		} else {
			sent = e.p.Send(int(to), h, buf)
		}
		if sent {
			e.p.Unlock()
			return nil
		}
		r = e.SendInit(&Envelope{Comm: c, Ctx: c.Ctx, Peer: dest, Tag: tag, Mode: mode, Code: code}, mem.Of(buf))
		r.Active = true
		e.p.Push(int(to), h, buf, r)
	} else {
		r = e.Isend(&Envelope{Comm: c, Ctx: c.Ctx, Peer: dest, Tag: tag, Mode: mode, Code: code}, mem.Of(buf))
	}
	r.blocking = true
	e.p.Wait(&r.Event, int(to))
	r.blocking = false
	err := r.Status.Err
	e.Free(r)
	e.p.Unlock()
	return err
}

// eagerHeader returns the header of an eager message.
func (e *Engine) eagerHeader(ctx uint64, tag int32, aux uint32, n int) *wire.Header {
	h := &e.hdr // its fields are set one by one: a copy of the whole struct would wait for the stores of its parts
	h.Size, h.Kind, h.Flags, h.Chan = uint32(n), wire.Eager, 0, 0
	h.Ctx, h.Tag, h.Aux, h.Arg, h.Name = ctx, tag, aux, 0, 0
	return h
}

// IsendShort is the fast path of Isend of a short message to a process of the node: it returns a request that is
// complete. It returns nil, and has sent nothing, if there is no credit, or no room in the ring. It takes the lock.
func (e *Engine) IsendShort(c *comm.Comm, code dtype.Code, buf []byte, dest int, tag int32) (r *Request) {
	e.p.Lock()
	to := c.Members[dest]
	q, rings := e.peers.Find(int(to)), e.p.Direct(int(to))
	if q != nil && rings != nil && q.takeCredit(len(buf)) {
		h := e.eagerHeader(c.Ctx, tag, uint32(code), len(buf))
		h.Arg = q.Numbered + 1
		if rings.Post(int(to), h, buf) {
			q.Numbered++
			r = e.newRequest(c)
			r.Send, r.mode, r.phase, r.ctx, r.peer, r.tag, r.sequence = true, Standard, phaseEager, c.Ctx, to, tag, q.Numbered
			r.parts = 0
			r.Fire()
		} else if !planted.RefusedPays {
			q.Credit += len(buf) + messageOverhead
		}
	}
	e.p.Unlock()
	return r
}

// Replenish polls for credit that a peer has returned, if there is too little for an eager
// message of n bytes: a process that only sends, and never waits, does not poll otherwise.
// The caller must not be the poller. The lock may be free in between.
func (e *Engine) Replenish(to int32, n int) {
	if q := e.peers.Find(int(to)); q != nil && q.Credit < n+messageOverhead && n <= q.EagerMax && to != e.me {
		e.p.Progress(int(to))
	}
}

// Isend starts sending m and returns the request.
func (e *Engine) Isend(v *Envelope, m mem.Mem) *Request {
	r := e.SendInit(v, m)
	r.Active = true
	e.startSend(r)
	return r
}

// SendInit returns the request of a send that is not started.
func (e *Engine) SendInit(v *Envelope, m mem.Mem) *Request {
	r := e.newRequest(v.Comm)
	r.Active = false
	r.Send, r.mode, r.phase, r.ctx = true, v.Mode, phaseEager, v.Ctx
	r.mem, r.peer, r.tag = m, ProcNull, v.Tag
	if v.Peer != ProcNull {
		r.peer = v.Comm.Members[v.Peer]
	}
	e.describe(r, v)
	return r
}

// startSend chooses the protocol.
func (e *Engine) startSend(r *Request) {
	r.sequence = 0
	if r.checked != nil {
		e.beginGuard(r)
	}
	if r.peer == ProcNull {
		e.finish(r, nil)
		return
	}
	if cause := e.p.DownCause(int(r.peer)); cause != nil {
		e.finish(r, peerFailed(r.comm, r.peer, cause))
		return
	}
	if r.mode == Buffered {
		e.startBuffered(r)
		return
	}
	if r.peer == e.me {
		e.sendSelf(r)
		return
	}
	b, _ := r.mem.Bytes() // nil if not contiguous
	if len(b) > copiedMax && !e.canRead(r.peer, b) {
		e.finish(r, unreadable(b))
		return
	}
	q := e.peers.At(int(r.peer))
	n := r.size()
	h := e.eagerHeader(r.ctx, r.tag, r.aux, n)
	if q.takeCredit(n) {
		r.phase = phaseEager
		if r.mode == Synchronous {
			r.phase = phaseReady // complete on Ack
			q.unanswered++
			h.Kind, h.Name = wire.EagerSync, e.assignHandle(r)
		} else {
			h.Arg = q.nextSequence(r)
		}
		e.sendClaim(r)
		r.queued = !e.p.Queue(int(r.peer), h, e.packed(r), r)
		if !r.queued {
			r.Sent(nil)
		}
		return
	}
	if err := e.checkUnanswered(r); err != nil {
		e.finish(r, err)
		return
	}
	q.unanswered++
	e.sendClaim(r)
	r.phase = phaseReady
	if n <= uncreditedMax {
		h.Kind, h.Flags, h.Name = wire.EagerSync, wire.Uncredited, e.assignHandle(r)
		r.queued = !e.p.Queue(int(r.peer), h, e.packed(r), r)
		return
	}
	h.Kind, h.Arg, h.Name = wire.Ready, uint64(n), e.assignHandle(r)
	var addr uint64 // 0: the receiver cannot read the memory directly
	if len(b) > 0 {
		addr = uint64(uintptr(unsafe.Pointer(&b[0])))
	}
	binary.LittleEndian.PutUint64(r.readyPayload[:], addr)
	h.Size = uint32(len(r.readyPayload))
	r.queued = !e.p.Queue(int(r.peer), h, r.readyPayload[:], r)
}

// nextSequence gives the message of r the next sequence number, for Cancel.
func (q *peer) nextSequence(r *Request) uint64 {
	q.Numbered++
	r.sequence = q.Numbered
	return r.sequence
}

// Sent implements proc.Sent: a frame of this request is sent, or never will be.
func (r *Request) Sent(err error) {
	e := r.engine
	if err != nil {
		e.failSend(r, err)
		return
	}
	r.queued = false
	if r.phase == phaseEager {
		e.finish(r, nil)
	}
}

// sendSelf delivers a message to this process itself.
func (e *Engine) sendSelf(r *Request) {
	e.sendClaim(r)
	key := match.Key{Ctx: r.ctx, Src: e.me, Tag: r.tag}
	if n := e.table.Arrive(key); n != nil {
		q := n.Owner
		q.setEnvelope(e.me, r.tag, uint64(r.size()))
		q.compareAux(r.aux, uint64(r.size()))
		e.compareNextClaim(e.me, q)
		mem.Copy(q.mem, r.mem)
		e.finish(q, nil)
		e.finish(r, nil)
		return
	}
	size := r.size()
	m := e.newMessage(key, uint64(size))
	m.addr, m.aux = e.peers.At(int(e.me)).nextSequence(r), r.aux
	if n := size + messageOverhead; r.mode != Synchronous && size <= wire.MaxPayload && e.selfBuffered+n <= creditMax {
		e.selfBuffered += n
		m.eager = true
		e.allocData(m, size)
		r.mem.Pack(m.data, 0)
		e.addUnexpected(m)
		e.finish(r, nil)
		return
	}
	m.sender = r
	e.addUnexpected(m)
}
