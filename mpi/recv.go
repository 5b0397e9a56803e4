package mpi

import (
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
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
		q := irecv(k, c, memOf(buf), typed(c, buf), elementCode[T](), source, tag)
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
	return irecv(callIrecv, c, memOf(buf), typed(c, buf), elementCode[T](), source, tag)
}

// irecv receives into m: elements of a code, and in checking mode of what of tells.
func irecv(k call, c *Comm, m mem.Mem, of *dtype.Buffer, code dtype.Code, source, tag int) Request {
	if err := c.check(k, source, tag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	v := c.envelope(p2p.Standard, of, code, source, engineTag(tag))
	r := e.Irecv(&v, m)
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
	st, err = m.recv(callRecvSlice, memOf(buf), typed(c, buf), elementCode[T]())
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
	r := isendrecv(callSendrecv, c, memOf(send), typed(c, send), elementCode[S](), dest, sendTag, memOf(recv), typed(c, recv), elementCode[R](), source, recvTag)
	return r.Wait()
}

// Isendrecv starts a Sendrecv; its request completes when both halves have.
//
// C: MPI_Isendrecv, section 3.10.
func Isendrecv[S, R Elem](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) Request {
	return isendrecv(callIsendrecv, c, memOf(send), typed(c, send), elementCode[S](), dest, sendTag, memOf(recv), typed(c, recv), elementCode[R](), source, recvTag)
}

func isendrecv(k call, c *Comm, send mem.Mem, sendOf *dtype.Buffer, sendCode dtype.Code, dest, sendTag int,
	recv mem.Mem, recvOf *dtype.Buffer, recvCode dtype.Code, source, recvTag int) Request {
	if err := c.check(k, dest, sendTag, false); err != nil {
		return Request{err: err}
	}
	if err := c.check(k, source, recvTag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	v := c.envelope(p2p.Standard, recvOf, recvCode, source, engineTag(recvTag))
	r := e.Irecv(&v, recv)
	v = c.envelope(p2p.Standard, sendOf, sendCode, dest, int32(sendTag))
	s := e.Isend(&v, send)
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
	r := isendrecvReplace(callSendrecvReplace, c, memOf(buf), typed(c, buf), elementCode[T](), dest, sendTag, source, recvTag)
	return r.Wait()
}

// IsendrecvReplace starts a SendrecvReplace.
//
// C: MPI_Isendrecv_replace, section 3.10.
func IsendrecvReplace[T Elem](c *Comm, buf []T, dest, sendTag, source, recvTag int) Request {
	return isendrecvReplace(callIsendrecvReplace, c, memOf(buf), typed(c, buf), elementCode[T](), dest, sendTag, source, recvTag)
}

func isendrecvReplace(k call, c *Comm, m mem.Mem, of *dtype.Buffer, code dtype.Code, dest, sendTag, source, recvTag int) Request {
	if err := c.check(k, dest, sendTag, false); err != nil {
		return Request{err: err}
	}
	if err := c.check(k, source, recvTag, true); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	v := c.envelope(p2p.Standard, of, code, source, engineTag(recvTag))
	r := e.SendrecvReplace(&v, m, dest, int32(sendTag))
	q := watched(newRequest(k, c, r))
	e.Proc().Unlock()
	return q
}
