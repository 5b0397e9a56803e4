package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/proc"
)

// probe is a goroutine that waits for a message to be there.
type probe struct {
	proc.Event
	key    match.Key
	comm   *comm.Comm
	source int
	take   bool
}

// AppendAbout implements proc.About.
func (q *probe) AppendAbout(b []byte) []byte {
	what := "Probe"
	if q.take {
		what = "Mprobe"
	}
	return appendOperation(b, what, q.comm, " from ", q.source, q.key.Tag)
}

func (e *Engine) key(c *comm.Comm, ctx uint64, source int, tag int32) match.Key {
	k := match.Key{Ctx: ctx, Src: match.AnySource, Tag: tag}
	if source >= 0 {
		k.Src = c.Members[source]
	}
	return k
}

// Iprobe looks for a message that a receive with these arguments would take. It
// makes progress and takes the lock. With take the message is removed, and only
// Mrecv of the returned one receives it (matched probe).
func (e *Engine) Iprobe(c *comm.Comm, source int, tag int32, take bool) (*Message, Status, bool, error) {
	e.p.Lock()
	defer e.p.Unlock()
	k := e.key(c, c.Ctx, source, tag)
	n := e.look(c, k)
	if n == nil {
		e.p.Progress(int(k.Src))
		n = e.look(c, k)
	}
	if n == nil {
		return nil, Status{}, false, e.lost(c, k.Src)
	}
	m, s := e.probed(c, n, take)
	return m, s, true, nil
}

// Probe waits for a message that a receive with these arguments would take. It
// takes the lock.
func (e *Engine) Probe(c *comm.Comm, source int, tag int32, take bool) (*Message, Status, error) {
	e.p.Lock()
	defer e.p.Unlock()
	k := e.key(c, c.Ctx, source, tag)
	for {
		if n := e.look(c, k); n != nil {
			m, s := e.probed(c, n, take)
			return m, s, nil
		}
		if err := e.lost(c, k.Src); err != nil {
			return nil, Status{}, err
		}
		q := &probe{key: k, comm: c, source: source, take: take}
		q.About = q
		e.probes = append(e.probes, q)
		e.p.Wait(&q.Event, int(k.Src))
		for i := range e.probes {
			if e.probes[i] == q {
				e.probes = append(e.probes[:i], e.probes[i+1:]...)
				break
			}
		}
	}
}

// look finds the message that a receive on c would take; those of intruders are dropped.
func (e *Engine) look(c *comm.Comm, k match.Key) *match.Node[Message] {
	for {
		n := e.table.Probe(k)
		if n == nil || c.RankOf(n.Src) >= 0 {
			return n
		}
		e.intruder(n.Src)
		e.table.Remove(n)
		e.discard(n.Owner)
	}
}

func (e *Engine) probed(c *comm.Comm, n *match.Node[Message], take bool) (*Message, Status) {
	s := Status{Source: c.RankOf(n.Src), Tag: n.Tag, Bytes: n.Owner.size}
	if !take {
		return nil, s
	}
	e.table.Remove(n)
	e.taken++
	return n.Owner, s
}

// Imrecv starts receiving a message that a matched probe has taken into room. It returns
// nil if the message, of which gen was the life, has been received. It takes the
// lock.
func (e *Engine) Imrecv(m *Message, gen uint32, v *Envelope, room mem.Mem) *Request {
	e.p.Lock()
	defer e.p.Unlock()
	if m.Gen != gen || m.taken {
		return nil
	}
	m.taken = true
	r := e.RecvInit(v, room)
	r.Active = true
	e.taken--
	e.accept(r, m)
	return r
}

// Drop ends a message that a matched probe has taken, and that is too long to be
// received: its sender goes on. It takes the lock.
func (e *Engine) Drop(m *Message, gen uint32) {
	e.p.Lock()
	defer e.p.Unlock()
	if m.Gen != gen || m.taken {
		return
	}
	m.taken = true
	e.taken--
	e.discard(m)
}
