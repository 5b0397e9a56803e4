package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/wire"
)

// Recv receives elements of code s.Code into buf and sets s. It takes the lock.
func (e *Engine) Recv(c *comm.Comm, buf []byte, source int, tag int32, s *Status) {
	e.p.Lock()
	// While there are unexpected messages Peek returns no frame, so recvNext would fail.
	none := e.table.Unexpected() == 0
	if source >= 0 && (none && e.recvNext(c, buf, source, tag, s) || !none && e.recvUnexpected(c, buf, source, tag, s)) {
		e.p.Unlock()
		return
	}
	r := e.Irecv(&Envelope{Comm: c, Ctx: c.Ctx, Peer: source, Tag: tag, Code: s.Code}, mem.Of(buf))
	if !r.Done() {
		r.blocking = true
		e.p.Wait(&r.Event, int(r.node.Src))
		r.blocking = false
	}
	*s = r.Status
	e.Free(r)
	e.p.Unlock()
}

// recvNext is the fast path of Recv from a rank whose process is on the node, while the table is empty.
// It receives the next message of that process if the message arrives soon and matches. It
// serves round trips: without request, poller and table the software costs a third less.
func (e *Engine) recvNext(c *comm.Comm, buf []byte, source int, tag int32, s *Status) bool {
	from := c.Members[source]
	q := e.peers.Find(int(from))
	if q == nil {
		return false
	}
	h, payload := e.p.Peek(int(from))
	if h == nil || h.Kind != wire.Eager || h.Ctx != c.Ctx || h.Tag != tag && tag != AnyTag || !q.charge(h) {
		return false
	}
	// The fields are set one by one: a copy of the whole struct would wait for the stores
	// of its parts.
	s.Source, s.Tag, s.Bytes, s.Cancelled, s.Err = source, h.Tag, uint64(copy(buf, payload)), false, nil
	if code := codeOf(h.Aux); len(payload) > len(buf) || code.Differs(s.Code) {
		s.compare(c, code, len(payload), len(buf))
	}
	e.returnCredit(q, from, int(h.Size))
	e.p.Consume()
	return true
}

// compare sets s.Err if a message of the given code and number of bytes does not fit the receive: s.Code is the
// code that the receive expects, room the length of its buffer in bytes.
func (s *Status) compare(c *comm.Comm, code dtype.Code, bytes, room int) {
	switch differs := code.Differs(s.Code); {
	case bytes > room && differs:
		s.Err = truncatedOther(s.Source, code, uint64(bytes), c.Rank, s.Code, room)
	case bytes > room:
		s.Err = truncated(uint64(bytes), room)
	case bytes > 0 && differs:
		s.Err = mistyped(s.Source, code, uint64(bytes), c.Rank, s.Code, room)
	}
}

// recvUnexpected is the fast path of Recv from a rank for an unexpected eager message that has arrived
// completely. It needs no request.
func (e *Engine) recvUnexpected(c *comm.Comm, buf []byte, source int, tag int32, s *Status) bool {
	n := e.table.Probe(match.Key{Ctx: c.Ctx, Src: c.Members[source], Tag: tag})
	if n == nil {
		return false
	}
	m := n.Owner
	if !m.eager || m.arriving || m.hasClaim {
		return false
	}
	e.table.Remove(n)
	s.Source, s.Tag, s.Bytes, s.Cancelled, s.Err = source, n.Tag, uint64(copy(buf, m.data)), false, nil
	if code := codeOf(m.aux); len(m.data) > len(buf) || code.Differs(s.Code) {
		s.compare(c, code, len(m.data), len(buf))
	}
	e.releaseEager(m)
	return true
}

// accept completes the receive r, which has matched an eager message.
func (e *Engine) accept(r *Request, q *peer, from int32, h *wire.Header, payload []byte) {
	r.setEnvelope(from, h.Tag, uint64(len(payload)))
	r.compareAux(h.Aux, uint64(len(payload)))
	e.compareNextClaim(from, r)
	if room, contiguous := r.mem.Bytes(); contiguous && len(payload) == 8 && len(room) >= 8 { // a number, without calls
		*(*[8]byte)(room) = [8]byte(payload)
	} else {
		r.mem.Unpack(payload, 0)
	}
	if h.Kind == wire.Eager {
		e.returnCredit(q, from, int(h.Size))
	} else {
		e.eagerConsumed(q, from, h)
	}
	e.finish(r, nil)
}

// IrecvContiguous is Irecv of elements of a code into contiguous memory. It takes the lock.
func (e *Engine) IrecvContiguous(c *comm.Comm, code dtype.Code, buf []byte, source int, tag int32) *Request {
	e.p.Lock()
	if e.posting != nil {
		e.makeQueues()
	}
	r := e.initRecv(c, c.Ctx, source, tag, mem.Of(buf))
	r.Active, r.aux = true, uint32(code)
	e.startRecv(r)
	e.p.Unlock()
	return r
}

// Irecv starts a receive into m and returns its request.
func (e *Engine) Irecv(v *Envelope, m mem.Mem) *Request {
	if e.posting != nil {
		e.makeQueues()
	}
	r := e.RecvInit(v, m)
	r.Active = true
	e.startRecv(r)
	return r
}

// RecvInit returns the request of a receive that is not started.
func (e *Engine) RecvInit(v *Envelope, m mem.Mem) *Request {
	r := e.initRecv(v.Comm, v.Ctx, v.Peer, v.Tag, m)
	e.describe(r, v)
	return r
}

// initRecv is RecvInit without a description of the elements.
func (e *Engine) initRecv(c *comm.Comm, ctx uint64, source int, tag int32, m mem.Mem) *Request {
	r := e.newRequest(c)
	r.Active = false
	r.mem, r.ctx, r.tag = m, ctx, tag
	from := int32(source) // AnySource or ProcNull
	if source >= 0 {
		from = c.Members[source]
	}
	r.node.Ctx, r.node.Src, r.node.Tag, r.peer = ctx, from, tag, from
	return r
}

func (e *Engine) startRecv(r *Request) {
	if r.checked != nil {
		e.beginGuard(r)
	}
	if r.peer == ProcNull {
		r.Status.Source, r.Status.Tag = ProcNull, AnyTag
		e.finish(r, nil)
		return
	}
	if n := e.table.Post(&r.node); n != nil {
		e.deliver(r, n.Owner)
		return
	}
	if len(e.dead) == 0 && !e.p.Met() {
		return
	}
	if err := e.sourceFailed(r.comm, r.peer); err != nil {
		e.table.Cancel(&r.node)
		e.finish(r, err)
	}
}

// sourceFailed returns an error if the source of a receive or probe that has found no message
// has failed. The source AnySource has failed if any member of the communicator has.
func (e *Engine) sourceFailed(c *comm.Comm, source int32) error {
	if e.p.Met() {
		e.watch(c, source)
	}
	for _, d := range e.dead {
		if d == source || source < 0 && c.RankOf(d) >= 0 {
			return peerFailed(c, d, e.p.DownCause(int(d)))
		}
	}
	return nil
}

// deliver gives r the message m, which is in no queue.
func (e *Engine) deliver(r *Request, m *Message) {
	from := m.node.Src
	r.setEnvelope(from, m.node.Tag, m.size)
	r.compareAux(m.aux, m.size)
	e.compareMessageClaim(r, m)
	switch {
	case m.arriving:
		m.receiver = r // Placed delivers the message
	case m.sender != nil:
		s := m.sender
		mem.Copy(r.mem, s.mem)
		e.freeMessage(m)
		e.finish(s, nil)
		e.finish(r, nil)
	case m.eager:
		r.mem.Unpack(m.data, 0)
		e.releaseEager(m)
		e.finish(r, nil)
	default:
		name, addr, size := m.handle, m.addr, m.size
		e.freeMessage(m)
		e.fetch(r, name, addr, size)
	}
}

// releaseEager frees an eager message whose payload has been copied or is not wanted. It returns the
// credit of the message to its sender, and acknowledges a message whose sender waits for that.
func (e *Engine) releaseEager(m *Message) {
	from, n, name, free, repaid := m.node.Src, int(m.size), m.handle, m.uncredited, m.repaid
	e.freeMessage(m)
	if from == e.me {
		e.selfBuffered -= n + messageOverhead
		return
	}
	switch {
	case repaid:
		e.peers.At(int(from)).repaid -= n + messageOverhead
	case !free:
		e.returnCredit(e.peers.Find(int(from)), from, n) // not nil: the message has come from this peer
	}
	if name != 0 {
		e.ack(from, name)
	}
}

// ack completes the request of a sender that has the handle name.
func (e *Engine) ack(to int32, name uint64) {
	e.peers.At(int(to)).peerUnanswered--
	e.hdr = wire.Header{Kind: wire.Ack, Name: name}
	e.p.Queue(int(to), &e.hdr, nil, nil)
}

// addUnexpected adds an unexpected message to the table and wakes the probes that match it. It rejects a
// message that nobody will receive.
func (e *Engine) addUnexpected(m *Message) {
	if e.drains(m.node.Ctx) || e.unwanted(m) {
		e.reject(m)
		return
	}
	if e.posting != nil && m.node.Ctx&1 == 0 {
		e.makeQueues()
	}
	e.table.Add(&m.node)
	for _, q := range e.probes {
		if q.key.Ctx == m.node.Ctx && (q.key.Src < 0 || q.key.Src == m.node.Src) && (q.key.Tag == AnyTag || q.key.Tag == m.node.Tag) {
			q.Fire()
		}
	}
}
