package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// signature describes the elements of a message. Together with a mem.Mem it is all that a call
// says about its data; the two are separate, since one struct of both would not be passed in
// registers.
type signature struct {
	code  dtype.Code
	typ   *dtype.Type // in checking mode only, like count
	count int64
}

// dataOf is the memory and the signature of a slice of plain data.
func dataOf[T any](c *Comm, buf []T) (mem.Mem, signature) {
	k := reflect.TypeFor[T]().Kind()
	if !isNumberKind(k) {
		b := Buf(buf)
		return b.sent(c)
	}
	e := signature{code: kindCode(k)}
	if c.checks() {
		e.typ, e.count = checkedType(reflect.TypeFor[T]()), int64(len(buf))
	}
	return mem.Of(memory(buf)), e
}

// sent is the memory and the signature of a Buffer to send.
func (b *Buffer) sent(c *Comm) (mem.Mem, signature) {
	if b.err != nil {
		return mem.Wrong(b.err), signature{}
	}
	e := signature{code: b.b.MessageCode()}
	if c.checks() {
		e.typ, e.count = b.b.Type(), b.b.Count()
	}
	return mem.In(&b.b), e
}

// received is the memory and the signature of a Buffer to receive into, in which no byte may
// occur twice.
func (b *Buffer) received(c *Comm) (mem.Mem, signature) {
	if b.err == nil && b.b.Overlaps() {
		return mem.Wrong(class.Errorf(class.Type,
			"%s cannot be a receive buffer: bytes of memory occur twice in it", b.b.Type().Describe(b.b.Count()))), signature{}
	}
	return b.sent(c)
}

// checkMessage checks the arguments of a call that sends or receives m.
func (c *Comm) checkMessage(k call.Number, m mem.Mem, peer, tag int, receives bool) *Error {
	if err := c.check(k, peer, tag, receives); err != nil {
		return err
	}
	if err := m.Err(); err != nil {
		e := describe(err, k, c, peer, tag)
		e.receive = receives
		return e.raised()
	}
	return nil
}

// modes are the send modes of calls. It is a table, since sends and receives alternate, so that the processor
// would mispredict the jumps of a switch.
var modes = [call.End]p2p.Mode{
	call.Ssend: p2p.Synchronous, call.Issend: p2p.Synchronous, call.SsendInit: p2p.Synchronous,
	call.Rsend: p2p.Ready, call.Irsend: p2p.Ready, call.RsendInit: p2p.Ready,
	call.Bsend: p2p.Buffered, call.Ibsend: p2p.Buffered, call.BsendInit: p2p.Buffered,
}

// setEnvelope makes v, which is zero, the envelope of a message of call k. It stores into v in place: a copy
// of an Envelope would wait for the stores of its parts.
func (c *Comm) setEnvelope(v *p2p.Envelope, k call.Number, of signature, peer int, tag int32) {
	v.Comm, v.Ctx, v.Peer, v.Tag, v.Mode = c.core, c.core.Ctx, peer, tag, modes[k]
	v.Code, v.Type, v.Count = of.code, of.typ, of.count
}

// message starts to send or receive m, or makes a persistent request that does, depending on
// call k.
func (c *Comm) message(k call.Number, m mem.Mem, of signature, peer, tag int) Request {
	receives := k.Is(call.Source)
	if err := c.checkMessage(k, m, peer, tag, receives); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	var v p2p.Envelope
	c.setEnvelope(&v, k, of, peer, engineTag(tag))
	v.Guarded = k.Is(call.Once | call.Persistent)
	var r *p2p.Request
	switch {
	case k.Is(call.Persistent):
		if receives {
			r = e.RecvInit(&v, m)
		} else {
			r = e.SendInit(&v, m)
		}
		r.Persistent = true
	case receives:
		r = e.Irecv(&v, m)
	default:
		if peer != ProcNull {
			e.Replenish(c.core.Members[peer], m.Len())
		}
		r = e.Isend(&v, m)
	}
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// exact reports that the peer and the tag of a message are valid and no wildcards, and that nothing else but its
// memory needs a check.
func (c *Comm) exact(peer, tag int) bool {
	return c != nil && uint(peer) < uint(len(c.core.Members)) && uint(tag) <= maxTag && !c.freed.Load() && !c.w.SlowPath()
}

// isend starts to send m.
func (c *Comm) isend(m mem.Mem, of signature, dest, tag int) Request {
	if buf, ok := m.Bytes(); ok && c.exact(dest, tag) {
		if r := c.w.P2P.IsendShort(c.core, of.code, buf, dest, int32(tag)); r != nil {
			return newRequest(call.Isend, c, r)
		}
	}
	return c.message(call.Isend, m, of, dest, tag)
}

// irecv starts to receive into m.
func (c *Comm) irecv(m mem.Mem, of signature, source, tag int) Request {
	if buf, ok := m.Bytes(); ok && c != nil && !c.w.SlowPath() {
		if !c.exact(source, tag) {
			if err := c.check(call.Irecv, source, tag, true); err != nil {
				return Request{err: err}
			}
		}
		return newRequest(call.Irecv, c, c.w.P2P.IrecvContiguous(c.core, of.code, buf, source, engineTag(tag)))
	}
	return c.message(call.Irecv, m, of, source, tag)
}

// send sends m and waits until the program may reuse its memory.
func (c *Comm) send(k call.Number, m mem.Mem, of signature, dest, tag int) error {
	if buf, ok := m.Bytes(); ok && c.exact(dest, tag) {
		if err := c.w.P2P.Send(c.core, modes[k], of.code, buf, dest, int32(tag)); err != nil {
			return wrap(err, k, c, dest, tag)
		}
		return nil
	}
	q := c.message(k, m, of, dest, tag)
	_, err := q.Wait()
	return err
}

// recv receives into m. It sets st, the result of its caller: a Status is returned through memory, and a copy
// of it would wait for the stores of its parts.
func (c *Comm) recv(k call.Number, m mem.Mem, of signature, source, tag int, st *Status) error {
	if buf, ok := m.Bytes(); ok && c != nil && !c.w.SlowPath() {
		if !c.exact(source, tag) {
			if err := c.check(k, source, tag, true); err != nil {
				*st = emptyStatus()
				return err
			}
		}
		s := p2p.Status{Code: of.code}
		c.w.P2P.Recv(c.core, buf, source, engineTag(tag), &s)
		st.set(&s)
		if s.Err != nil {
			return wrap(s.Err, k, c, source, tag)
		}
		return nil
	}
	q := c.message(k, m, of, source, tag)
	var err error
	*st, err = q.Wait()
	return err
}

// exchange starts to send one message and to receive another.
func (c *Comm) exchange(k call.Number, send mem.Mem, sent signature, dest, sendTag int, recv mem.Mem, received signature, source, recvTag int) Request {
	if err := c.checkBoth(k, send, dest, sendTag, recv, source, recvTag); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	var v p2p.Envelope
	c.setEnvelope(&v, k, received, source, engineTag(recvTag))
	r := e.Irecv(&v, recv)
	var o p2p.Envelope
	c.setEnvelope(&o, k, sent, dest, int32(sendTag))
	s := e.Isend(&o, send)
	e.Join(r, s)
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// replace starts to send m, and to receive into the same memory.
func (c *Comm) replace(k call.Number, m mem.Mem, of signature, dest, sendTag, source, recvTag int) Request {
	if err := c.checkBoth(k, m, dest, sendTag, m, source, recvTag); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	var v p2p.Envelope
	c.setEnvelope(&v, k, of, source, engineTag(recvTag))
	r := e.SendrecvReplace(&v, m, dest, int32(sendTag))
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// checkBoth is checkMessage for a call that sends and receives.
func (c *Comm) checkBoth(k call.Number, send mem.Mem, dest, sendTag int, recv mem.Mem, source, recvTag int) *Error {
	if err := c.checkMessage(k, send, dest, sendTag, false); err != nil {
		return err
	}
	return c.checkMessage(k, recv, source, recvTag, true)
}
