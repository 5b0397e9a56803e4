package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Send sends buf to rank dest of c and returns when buf may be used again. A
// short message is buffered by the receiver within bounds; otherwise Send waits
// for a matching receive.
//
// Errors: ErrComm, ErrRank, ErrTag, ErrProcFailed.
//
// C: MPI_Send, section 3.2.1.
func Send[T Elem](c *Comm, buf []T, dest, tag int) error {
	return send(callSend, p2p.Standard, c, buf, dest, tag)
}

// Ssend is Send that returns only when a matching receive has started.
//
// C: MPI_Ssend, section 3.4.
func Ssend[T Elem](c *Comm, buf []T, dest, tag int) error {
	return send(callSsend, p2p.Synchronous, c, buf, dest, tag)
}

// Bsend is Send that never waits for the receiver: the message is copied into
// the attached buffer (BufferAttach). ErrBuffer if it does not fit.
//
// C: MPI_Bsend, section 3.4.
func Bsend[T Elem](c *Comm, buf []T, dest, tag int) error {
	return send(callBsend, p2p.Buffered, c, buf, dest, tag)
}

// Rsend is Send whose caller knows that the matching receive is posted.
//
// C: MPI_Rsend, section 3.4.
func Rsend[T Elem](c *Comm, buf []T, dest, tag int) error {
	return send(callRsend, p2p.Standard, c, buf, dest, tag)
}

// send is generic so that the type of buf is known in checking mode, at no cost else.
func send[T Elem](k call, mode p2p.Mode, c *Comm, buf []T, dest, tag int) error {
	if c == nil || uint(dest) >= uint(len(c.core.Members)) || uint(tag) > maxTag || c.freed.Load() || c.w.Odd() {
		q := isend(k, mode, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
		_, err := q.Wait()
		return err
	}
	if err := c.w.P2P.Send(c.core, mode, elementCode[T](), bytesOf(buf), dest, int32(tag)); err != nil {
		return wrap(err, k, c, dest, tag)
	}
	return nil
}

// sendRow is send of elements of a code that lie in a row.
func sendRow(k call, mode p2p.Mode, c *Comm, buf []byte, code dtype.Code, dest, tag int) error {
	if c == nil || uint(dest) >= uint(len(c.core.Members)) || uint(tag) > maxTag || c.freed.Load() || c.w.Odd() {
		q := isend(k, mode, c, mem.Of(buf), nil, code, dest, tag)
		_, err := q.Wait()
		return err
	}
	if err := c.w.P2P.Send(c.core, mode, code, buf, dest, int32(tag)); err != nil {
		return wrap(err, k, c, dest, tag)
	}
	return nil
}

// Isend starts sending buf to rank dest of c. buf must not be written until the
// request is complete. A wrong argument shows when the request is waited for.
//
// C: MPI_Isend, section 3.7.2.
func Isend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return isend(callIsend, p2p.Standard, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// Issend is Isend whose request completes only when a matching receive has started.
//
// C: MPI_Issend, section 3.7.2.
func Issend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return isend(callIssend, p2p.Synchronous, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// Ibsend is Isend in buffered mode.
//
// C: MPI_Ibsend, section 3.7.2.
func Ibsend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return isend(callIbsend, p2p.Buffered, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// Irsend is Isend whose caller knows that the matching receive is posted.
//
// C: MPI_Irsend, section 3.7.2.
func Irsend[T Elem](c *Comm, buf []T, dest, tag int) Request {
	return isend(callIrsend, p2p.Standard, c, memOf(buf), typed(c, buf), elementCode[T](), dest, tag)
}

// isend sends m: elements of a code, and in checking mode of what of tells.
func isend(k call, mode p2p.Mode, c *Comm, m mem.Mem, of *dtype.Buffer, code dtype.Code, dest, tag int) Request {
	if err := c.check(k, dest, tag, false); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	if dest != ProcNull {
		e.Replenish(c.core.Members[dest], m.Len())
	}
	v := c.envelope(mode, of, code, dest, int32(tag))
	r := e.Isend(&v, m)
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// envelope is that of a message of elements of a code, and in checking mode of what of tells.
func (c *Comm) envelope(mode p2p.Mode, of *dtype.Buffer, code dtype.Code, peer int, tag int32) p2p.Envelope {
	v := p2p.Envelope{Comm: c.core, Ctx: c.core.Ctx, Peer: peer, Tag: tag, Mode: mode, Code: code}
	if of != nil {
		v.Type, v.Count = of.Type(), of.Count()
	}
	return v
}

// memOf is the memory of a slice.
func memOf[T Elem](s []T) mem.Mem { return mem.Of(bytesOf(s)) }
