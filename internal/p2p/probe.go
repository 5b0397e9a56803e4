package p2p

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/proc"
)

// probe is a call of Probe that waits for a message.
type probe struct {
	proc.Event
	engine *Engine
	key    match.Key
	comm   *comm.Comm
	source int
	take   bool
	call   call.Number
}

// AppendAbout implements proc.About.
func (q *probe) AppendAbout(b []byte) []byte {
	return appendOperation(b, q.call, q.comm, " from ", q.source, q.key.Tag)
}

// Awaits implements proc.Awaiter.
func (q *probe) Awaits() int32 {
	if q.source >= 0 {
		return q.comm.Members[q.source]
	}
	return q.comm.Awaits()
}

func (e *Engine) key(c *comm.Comm, ctx uint64, source int, tag int32) match.Key {
	k := match.Key{Ctx: ctx, Src: match.AnySource, Tag: tag}
	if source >= 0 {
		k.Src = c.Members[source]
	}
	return k
}

// Iprobe looks for a message that a receive with these arguments would match. It makes
// progress and takes the lock. With take it removes the message from the table, and only
// Imrecv of the returned message receives it (matched probe).
func (e *Engine) Iprobe(c *comm.Comm, source int, tag int32, take bool) (*Message, Status, bool, error) {
	e.p.Lock()
	defer e.p.Unlock()
	k := e.key(c, c.Ctx, source, tag)
	n := e.findUnexpected(c, k)
	if n == nil {
		e.p.Progress(int(k.Src))
		n = e.findUnexpected(c, k)
	}
	if n == nil {
		return nil, Status{}, false, e.sourceFailed(c, k.Src)
	}
	m, s := e.finishProbe(c, n, take)
	return m, s, true, nil
}

// Probe waits for a message that a receive with these arguments would match. It takes the
// lock.
func (e *Engine) Probe(c *comm.Comm, source int, tag int32, take bool) (*Message, Status, error) {
	name := call.Probe
	if take {
		name = call.Mprobe
	}
	return e.ProbeIn(name, c, source, tag, take)
}

// ProbeIn is Probe in a call of the program that has another name.
func (e *Engine) ProbeIn(name call.Number, c *comm.Comm, source int, tag int32, take bool) (*Message, Status, error) {
	e.p.Lock()
	defer e.p.Unlock()
	k := e.key(c, c.Ctx, source, tag)
	for {
		if n := e.findUnexpected(c, k); n != nil {
			m, s := e.finishProbe(c, n, take)
			return m, s, nil
		}
		if err := e.sourceFailed(c, k.Src); err != nil {
			return nil, Status{}, err
		}
		q := &probe{key: k, comm: c, source: source, take: take, call: name}
		q.engine, q.About = e, q
		e.probes = append(e.probes, q)
		e.p.Wait(&q.Event, int(k.Src))
		q.end()
	}
}

// end takes the probe out of those that wait.
func (q *probe) end() {
	e := q.engine
	for i := range e.probes {
		if e.probes[i] == q {
			e.probes = append(e.probes[:i], e.probes[i+1:]...)
			return
		}
	}
}

// Left implements proc.Leaver.
func (q *probe) Left() { q.end() }

// findUnexpected returns the message that a receive on c would match, nil if there is none.
// It refuses senders that are no members of c, and discards their messages.
func (e *Engine) findUnexpected(c *comm.Comm, k match.Key) *match.Node[Message] {
	for {
		n := e.table.Probe(k)
		if n == nil || c.RankOf(n.Src) >= 0 {
			return n
		}
		e.refuseNonMember(n.Src)
		e.table.Remove(n)
		e.discard(n.Owner)
	}
}

func (e *Engine) finishProbe(c *comm.Comm, n *match.Node[Message], take bool) (*Message, Status) {
	s := Status{Source: c.RankOf(n.Src), Tag: n.Tag, Bytes: n.Owner.size}
	if !take {
		return nil, s
	}
	e.table.Remove(n)
	e.heldByProbes++
	return n.Owner, s
}

// Imrecv starts receiving the message of a matched probe into room. gen is Message.Gen at the
// time of the probe. Imrecv returns nil if the message has been received already. It takes
// the lock.
func (e *Engine) Imrecv(m *Message, gen uint32, v *Envelope, room mem.Mem) *Request {
	e.p.Lock()
	defer e.p.Unlock()
	if m.Gen != gen || m.received {
		return nil
	}
	m.received = true
	r := e.RecvInit(v, room)
	r.Active = true
	e.heldByProbes--
	e.deliver(r, m)
	return r
}

// Drop discards the message of a matched probe, which is too long to be received, and
// completes its send. It takes the lock.
func (e *Engine) Drop(m *Message, gen uint32) {
	e.p.Lock()
	defer e.p.Unlock()
	if m.Gen != gen || m.received {
		return
	}
	m.received = true
	e.heldByProbes--
	e.discard(m)
}
