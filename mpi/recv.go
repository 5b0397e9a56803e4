package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/sys"
)

// Recv receives a message from rank source of c, or AnySource, with the given
// tag, or AnyTag, into buf. The message may be shorter than buf: see Count. If
// it is longer, buf is filled and the error is ErrTruncate. If its elements are of
// another type the error is ErrType; bytes match anything. If no message is
// there and the source has died, or with AnySource any member of c, the error is
// ErrProcFailed.
//
// C: MPI_Recv, section 3.2.4.
func Recv[T Elem](c *Comm, buf []T, source, tag int) (Status, error) {
	var st Status
	err := recv(callRecv, c, buf, source, tag, &st)
	return st, err
}

// recv is generic so that the type of buf is known in checking mode, at no cost else.
func recv[T Elem](k call, c *Comm, buf []T, source, tag int, st *Status) error {
	if err := c.check(k, source, tag, true); err != nil {
		*st = emptyStatus()
		return err
	}
	if c.w.Odd() {
		q := irecv(k, c, bytesOf(buf), typed(c, buf), elementCode[T](), source, tag)
		var err error
		*st, err = q.Wait()
		return err
	}
	return recvBytes(k, c, bytesOf(buf), elementCode[T](), source, tag, st)
}

// recvRow is recv of elements of a code into memory in a row, outside of checking mode.
func recvRow(k call, c *Comm, buf []byte, code dtype.Code, source, tag int, st *Status) error {
	if err := c.check(k, source, tag, true); err != nil {
		*st = emptyStatus()
		return err
	}
	return recvBytes(k, c, buf, code, source, tag, st)
}

// recvBytes is recv whose arguments have been checked.
func recvBytes(k call, c *Comm, buf []byte, code dtype.Code, source, tag int, st *Status) error {
	s := p2p.Status{Code: code}
	c.w.P2P.Recv(c.core, buf, source, engineTag(tag), &s)
	st.set(&s)
	if s.Err != nil {
		return wrap(s.Err, k, c, source, tag)
	}
	return nil
}

// Irecv starts receiving into buf, which must not be touched until the request
// is complete. A wrong argument shows when the request is waited for.
//
// C: MPI_Irecv, section 3.7.2.
func Irecv[T Elem](c *Comm, buf []T, source, tag int) Request {
	return irecv(callIrecv, c, bytesOf(buf), typed(c, buf), elementCode[T](), source, tag)
}

// irecv receives into buf, or into layout unless that is nil; with both, layout only
// tells the type of buf.
func irecv(k call, c *Comm, buf []byte, layout *dtype.Buffer, code dtype.Code, source, tag int) Request {
	if err := c.check(k, source, tag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	r := e.IrecvPart(c.core, c.core.Ctx, buf, part(buf, layout, code), source, engineTag(tag))
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// RecvSlice receives a message of any length into a new slice.
//
// Errors: those of Recv, ErrType if the message is no whole number of elements,
// and ErrNoMem if it is longer than this machine has memory; the message is lost
// then, and its sender goes on.
//
// C: MPI_Mprobe and MPI_Mrecv, section 3.8.2.
func RecvSlice[T Elem](c *Comm, source, tag int) ([]T, Status, error) {
	if err := c.check(callRecvSlice, source, tag, true); err != nil {
		return nil, emptyStatus(), err
	}
	m, st, err := c.mprobe(callRecvSlice, source, tag)
	if err != nil {
		return nil, st, err
	}
	if have := sys.PhysicalMemory(); uint64(st.bytes) > have {
		m.drop()
		e := newError(ErrNoMem, callRecvSlice.String(), c, "message of %d bytes, and this machine has %d bytes of memory", st.bytes, have)
		e.Peer, e.Tag, e.receive = st.Source, st.Tag, true
		return nil, st, e.raised()
	}
	size := int64(sizeOf[T]())
	buf := make([]T, (st.bytes+size-1)/size)
	st, err = m.recv(callRecvSlice, bytesOf(buf), typed(c, buf), elementCode[T]())
	if err == nil && st.bytes%size != 0 {
		e := newError(ErrType, callRecvSlice.String(), c, "message of %d bytes is no whole number of %d-byte elements", st.bytes, size)
		e.Peer, e.Tag, e.receive = source, tag, true
		err = e.raised()
	}
	return buf, st, err
}

// Sendrecv sends send to rank dest and receives into recv from rank source, in
// any order, so that a shift along a chain cannot deadlock. The buffers must
// not overlap. The status is the receive's.
//
// C: MPI_Sendrecv, section 3.10.
func Sendrecv[S, R Elem](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) (Status, error) {
	r := isendrecv(callSendrecv, c, bytesOf(send), typed(c, send), elementCode[S](), dest, sendTag, bytesOf(recv), typed(c, recv), elementCode[R](), source, recvTag)
	return r.Wait()
}

// Isendrecv starts a Sendrecv; its request completes when both halves have.
//
// C: MPI_Isendrecv, section 3.10.
func Isendrecv[S, R Elem](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) Request {
	return isendrecv(callIsendrecv, c, bytesOf(send), typed(c, send), elementCode[S](), dest, sendTag, bytesOf(recv), typed(c, recv), elementCode[R](), source, recvTag)
}

func isendrecv(k call, c *Comm, send []byte, sendLayout *dtype.Buffer, sendCode dtype.Code, dest, sendTag int,
	recv []byte, recvLayout *dtype.Buffer, recvCode dtype.Code, source, recvTag int) Request {
	if err := c.check(k, dest, sendTag, false); err != nil {
		return Request{err: err}
	}
	if err := c.check(k, source, recvTag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	r := e.IrecvPart(c.core, c.core.Ctx, recv, part(recv, recvLayout, recvCode), source, engineTag(recvTag))
	s := e.IsendPart(c.core, c.core.Ctx, p2p.Standard, send, part(send, sendLayout, sendCode), dest, int32(sendTag))
	e.Join(r, s)
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}

// SendrecvReplace is Sendrecv with one buffer: what is received replaces what
// is sent.
//
// C: MPI_Sendrecv_replace, section 3.10.
func SendrecvReplace[T Elem](c *Comm, buf []T, dest, sendTag, source, recvTag int) (Status, error) {
	r := isendrecvReplace(callSendrecvReplace, c, bytesOf(buf), typed(c, buf), elementCode[T](), dest, sendTag, source, recvTag)
	return r.Wait()
}

// IsendrecvReplace starts a SendrecvReplace.
//
// C: MPI_Isendrecv_replace, section 3.10.
func IsendrecvReplace[T Elem](c *Comm, buf []T, dest, sendTag, source, recvTag int) Request {
	return isendrecvReplace(callIsendrecvReplace, c, bytesOf(buf), typed(c, buf), elementCode[T](), dest, sendTag, source, recvTag)
}

func isendrecvReplace(k call, c *Comm, buf []byte, layout *dtype.Buffer, code dtype.Code, dest, sendTag, source, recvTag int) Request {
	if err := c.check(k, dest, sendTag, false); err != nil {
		return Request{err: err}
	}
	if err := c.check(k, source, recvTag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	r := e.SendrecvReplace(c.core, buf, part(buf, layout, code), dest, int32(sendTag), source, engineTag(recvTag))
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}
