package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/wire"
)

// Recv receives into buf, as elements of s.Code, and fills s. It takes the lock.
func (e *Engine) Recv(c *comm.Comm, buf []byte, source int, tag int32, s *Status) {
	e.p.Lock()
	if e.recvNext(c, buf, source, tag, s) {
		e.p.Unlock()
		return
	}
	r := e.Irecv(&Envelope{Comm: c, Ctx: c.Ctx, Peer: source, Tag: tag, Code: s.Code}, mem.Of(buf))
	if !r.Done() {
		e.p.Wait(&r.Event, int(r.node.Src))
	}
	*s = r.Status
	e.Free(r)
	e.p.Unlock()
}

// recvNext receives the message that a peer in memory sends next, if it comes
// soon and is the one, and there is nothing else to match. That is what ends a
// round trip: it saves the request and the way through poller, fabric and table,
// a third of what the software costs.
func (e *Engine) recvNext(c *comm.Comm, buf []byte, source int, tag int32, s *Status) bool {
	if source < 0 || e.table.Posted() != 0 || e.table.Unexpected() != 0 {
		return false
	}
	from := c.Members[source]
	h, payload := e.p.Glance(int(from))
	if h == nil || h.Kind != wire.Eager || h.Ctx != c.Ctx || h.Tag != tag && tag != AnyTag || !e.charge(int(from), h) {
		return false
	}
	// Field by field: copying the whole struct next would wait for its parts.
	s.Source, s.Tag, s.Bytes, s.Cancelled, s.Err = source, h.Tag, uint64(copy(buf, payload)), false, nil
	if len(payload) > len(buf) {
		s.Err = truncated(uint64(len(payload)), len(buf))
		if code := codeOf(h.Aux); code.Differs(s.Code) {
			s.Err = truncatedOther(source, code, uint64(len(payload)), c.Rank, s.Code, len(buf))
		}
	} else if code := codeOf(h.Aux); code.Differs(s.Code) && len(payload) > 0 {
		s.Err = mistyped(source, code, uint64(len(payload)), c.Rank, s.Code, len(buf))
	}
	e.received(from, h)
	e.p.Took()
	return true
}

// Irecv starts a receive into m and returns its request.
func (e *Engine) Irecv(v *Envelope, m mem.Mem) *Request {
	r := e.RecvInit(v, m)
	r.Active = true
	e.startRecv(r)
	return r
}

// RecvInit returns the request of a receive that has not been started.
func (e *Engine) RecvInit(v *Envelope, m mem.Mem) *Request {
	r := e.newRequest(v.Comm)
	r.Active = false
	r.mem, r.ctx, r.tag = m, v.Ctx, v.Tag
	r.node.Key = match.Key{Ctx: v.Ctx, Src: match.AnySource, Tag: v.Tag}
	if v.Peer >= 0 {
		r.node.Src = v.Comm.Members[v.Peer]
	} else {
		r.node.Src = int32(v.Peer) // AnySource or ProcNull
	}
	r.peer = r.node.Src
	e.describe(r, v)
	return r
}

func (e *Engine) startRecv(r *Request) {
	if r.peer == ProcNull {
		r.Status.Source, r.Status.Tag = ProcNull, AnyTag
		e.finish(r, nil)
		return
	}
	if n := e.table.Post(&r.node); n != nil {
		e.accept(r, n.Owner)
		return
	}
	if err := e.lost(r.comm, r.peer); err != nil {
		e.table.Cancel(&r.node)
		e.finish(r, err)
	}
}

// lost returns an error if the source of a receive or probe that has found no
// message is gone: if it may be anybody, when any member of the communicator is.
func (e *Engine) lost(c *comm.Comm, source int32) error {
	for _, d := range e.dead {
		if d == source || source < 0 && c.RankOf(d) >= 0 {
			return gone(c, d, e.p.DownCause(int(d)))
		}
	}
	return nil
}

// accept gives r the message m, which was in no queue any more.
func (e *Engine) accept(r *Request, m *Message) {
	from := m.node.Src
	r.envelope(from, m.node.Tag, m.size)
	r.judge(m.aux, m.size)
	e.compareKept(r, m)
	switch {
	case m.filling:
		m.claimed = r // delivered when the payload is here
	case m.sender != nil:
		s := m.sender
		mem.Copy(r.mem, s.mem)
		e.freeMessage(m)
		e.finish(s, nil)
		e.finish(r, nil)
	case m.eager:
		r.mem.Unpack(m.data, 0)
		e.retire(m)
		e.finish(r, nil)
	default:
		name, addr, size := m.name, m.addr, m.size
		e.freeMessage(m)
		e.fetch(r, name, addr, size)
	}
}

// retire ends an eager message whose payload has been copied out.
func (e *Engine) retire(m *Message) {
	from, n, name, free := m.node.Src, int(m.size), m.name, m.free
	e.freeMessage(m)
	if from == e.me {
		e.self -= n + frameCost
		return
	}
	if !free {
		e.consumed(from, n)
	}
	if name != 0 {
		e.ack(from, name)
	}
}

// ack completes the sender's request of that name.
func (e *Engine) ack(to int32, name uint64) {
	e.peers[to].asked--
	e.hdr = wire.Header{Kind: wire.Ack, Name: name}
	e.p.Queue(int(to), &e.hdr, nil, nil)
}

// add queues an unexpected message and tells those who probe for it.
func (e *Engine) add(m *Message) {
	if e.closing {
		e.discard(m)
		return
	}
	e.table.Add(&m.node)
	for _, q := range e.probes {
		if q.key.Ctx == m.node.Ctx && (q.key.Src < 0 || q.key.Src == m.node.Src) && (q.key.Tag == AnyTag || q.key.Tag == m.node.Tag) {
			q.Fire()
		}
	}
}
