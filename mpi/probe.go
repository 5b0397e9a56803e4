package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Message is a message that a matched probe has taken. Only Mrecv and Imrecv can receive it, and
// only once. The zero Message is no message.
//
// C: MPI_Message, section 3.8.2.
type Message struct {
	c    *Comm
	m    *p2p.Message // nil for a message from ProcNull
	gen  uint32
	st   Status
	live bool
}

// Probe waits for a message that Recv with the same arguments would receive, and returns its
// status.
//
// C: MPI_Probe, section 3.8.1.
func (c *Comm) Probe(source, tag int) (Status, error) {
	if err := c.check(call.Probe, source, tag, true); err != nil {
		return emptyStatus(), err
	}
	if source == ProcNull {
		return nullStatus(), nil
	}
	_, s, err := c.w.P2P.Probe(c.core, source, engineTag(tag), false)
	if err != nil {
		return emptyStatus(), wrap(err, call.Probe, c, source, tag)
	}
	return publicStatus(&s), nil
}

// Iprobe is Probe that does not wait; it returns false if there is no such message yet.
//
// C: MPI_Iprobe, section 3.8.1.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	if err := c.check(call.Iprobe, source, tag, true); err != nil {
		return emptyStatus(), false, err
	}
	if source == ProcNull {
		return nullStatus(), true, nil
	}
	_, s, ok, err := c.w.P2P.Iprobe(c.core, source, engineTag(tag), false)
	if !ok {
		return emptyStatus(), false, wrap(err, call.Iprobe, c, source, tag)
	}
	return publicStatus(&s), true, nil
}

// Mprobe is Probe that also takes the message, so that no other receive can match it: several
// goroutines may probe the same communicator.
//
// C: MPI_Mprobe, section 3.8.2.
func (c *Comm) Mprobe(source, tag int) (Message, Status, error) {
	if err := c.check(call.Mprobe, source, tag, true); err != nil {
		return Message{}, emptyStatus(), err
	}
	return c.mprobe(call.Mprobe, source, tag)
}

func (c *Comm) mprobe(k call.Number, source, tag int) (Message, Status, error) {
	if source == ProcNull {
		return Message{c: c, st: nullStatus(), live: true}, nullStatus(), nil
	}
	m, s, err := c.w.P2P.ProbeIn(k, c.core, source, engineTag(tag), true)
	if err != nil {
		return Message{}, emptyStatus(), wrap(err, k, c, source, tag)
	}
	st := publicStatus(&s)
	return Message{c: c, m: m, gen: m.Gen, st: st, live: true}, st, nil
}

// Improbe is Mprobe that does not wait; it returns false if there is no such message yet.
//
// C: MPI_Improbe, section 3.8.2.
func (c *Comm) Improbe(source, tag int) (Message, Status, bool, error) {
	if err := c.check(call.Improbe, source, tag, true); err != nil {
		return Message{}, emptyStatus(), false, err
	}
	if source == ProcNull {
		return Message{c: c, st: nullStatus(), live: true}, nullStatus(), true, nil
	}
	m, s, ok, err := c.w.P2P.Iprobe(c.core, source, engineTag(tag), true)
	if !ok {
		return Message{}, emptyStatus(), false, wrap(err, call.Improbe, c, source, tag)
	}
	st := publicStatus(&s)
	return Message{c: c, m: m, gen: m.Gen, st: st, live: true}, st, true, nil
}

// nullStatus is the status of communication with ProcNull.
func nullStatus() Status { return Status{Source: ProcNull, Tag: AnyTag} }

// Mrecv receives into buf the message that a matched probe has taken, as Recv would.
//
// C: MPI_Mrecv, section 3.8.3.
func Mrecv[T any](m *Message, buf []T) (Status, error) {
	room, e := dataOf(m.c, buf)
	q := m.receive(call.Mrecv, room, e)
	return q.Wait()
}

// Imrecv starts to receive into buf the message that a matched probe has taken.
//
// C: MPI_Imrecv, section 3.8.3.
func Imrecv[T any](m *Message, buf []T) Request {
	room, e := dataOf(m.c, buf)
	return m.receive(call.Imrecv, room, e)
}

// receive starts to receive m into room.
func (m *Message) receive(k call.Number, room mem.Mem, of signature) Request {
	c := m.c
	received := func() Request {
		return Request{err: fail(ErrRequest, k, c, "message is null, or has been received")}
	}
	switch {
	case !m.live:
		return received()
	case c.ended():
		return Request{err: c.usable(k)}
	case room.Err() != nil:
		return Request{err: describe(room.Err(), k, c, Undefined, Undefined).raised()}
	}
	taken := *m
	*m = Message{c: c}
	if taken.m == nil {
		return c.message(k, room, of, ProcNull, AnyTag)
	}
	var v p2p.Envelope
	c.setEnvelope(&v, k, of, taken.st.Source, int32(taken.st.Tag))
	r := c.w.P2P.Imrecv(taken.m, taken.gen, &v, room)
	if r == nil {
		return received()
	}
	return watched(newRequest(k, c, r))
}

// drop discards a message that a matched probe has taken. Its sender's operation completes.
func (m *Message) drop() {
	m.c.w.P2P.Drop(m.m, m.gen)
	*m = Message{c: m.c}
}
