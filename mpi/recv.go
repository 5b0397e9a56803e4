package mpi

import "github.com/halo-mpi/halo/internal/sys"

// Recv receives a message from rank source of c, or AnySource, with the given
// tag, or AnyTag, into buf. The message may be shorter than buf: see Count. If
// it is longer, buf is filled and the error is ErrTruncate. If its elements are of
// another type the error is ErrType; bytes match anything. If no message is
// there and the source has died, or with AnySource any member of c, the error is
// ErrProcFailed.
//
// C: MPI_Recv, section 3.2.4.
func Recv[T any](c *Comm, buf []T, source, tag int) (Status, error) {
	m, e := dataOf(c, buf)
	return c.recv(callRecv, m, e, source, tag)
}

// Irecv starts receiving into buf, which must not be touched until the request
// is complete. A wrong argument shows when the request is waited for.
//
// C: MPI_Irecv, section 3.7.2.
func Irecv[T any](c *Comm, buf []T, source, tag int) Request {
	m, e := dataOf(c, buf)
	return c.message(callIrecv, m, e, source, tag)
}

// RecvSlice receives a message of any length into a new slice of plain data.
//
// Errors: those of Recv, ErrType if the message is no whole number of elements,
// and ErrNoMem if it is longer than this machine has memory; the message is lost
// then, and its sender goes on.
//
// C: MPI_Mprobe and MPI_Mrecv, section 3.8.2.
func RecvSlice[T any](c *Comm, source, tag int) ([]T, Status, error) {
	if err := c.check(callRecvSlice, source, tag, true); err != nil {
		return nil, emptyStatus(), err
	}
	size, err := packedSize[T]()
	if err != nil {
		return nil, emptyStatus(), wrap(err, callRecvSlice, c, source, tag)
	}
	m, st, err := c.mprobe(callRecvSlice, source, tag)
	if err != nil {
		return nil, st, err
	}
	if have := sys.PhysicalMemory(); uint64(st.bytes) > have {
		m.drop()
		e := newError(ErrNoMem, callRecvSlice.String(), c, "message of %d bytes does not fit into the %d bytes of memory of this machine", st.bytes, have)
		e.Peer, e.Tag, e.receive = st.Source, st.Tag, true
		return nil, st, e.raised()
	}
	buf := make([]T, (st.bytes+size-1)/max(size, 1))
	room, e := dataOf(c, buf)
	q := m.receive(callRecvSlice, room, e)
	st, err = q.Wait()
	if err == nil && st.bytes != int64(len(buf))*size {
		e := newError(ErrType, callRecvSlice.String(), c, "message of %d bytes is not a whole number of %d-byte elements", st.bytes, size)
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
func Sendrecv[S, R any](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) (Status, error) {
	out, sent := dataOf(c, send)
	in, received := dataOf(c, recv)
	r := c.exchange(callSendrecv, out, sent, dest, sendTag, in, received, source, recvTag)
	return r.Wait()
}

// Isendrecv starts a Sendrecv; its request completes when both halves have.
//
// C: MPI_Isendrecv, section 3.10.
func Isendrecv[S, R any](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) Request {
	out, sent := dataOf(c, send)
	in, received := dataOf(c, recv)
	return c.exchange(callIsendrecv, out, sent, dest, sendTag, in, received, source, recvTag)
}

// SendrecvReplace is Sendrecv with one buffer: what is received replaces what
// is sent.
//
// C: MPI_Sendrecv_replace, section 3.10.
func SendrecvReplace[T any](c *Comm, buf []T, dest, sendTag, source, recvTag int) (Status, error) {
	m, e := dataOf(c, buf)
	r := c.replace(callSendrecvReplace, m, e, dest, sendTag, source, recvTag)
	return r.Wait()
}

// IsendrecvReplace starts a SendrecvReplace.
//
// C: MPI_Isendrecv_replace, section 3.10.
func IsendrecvReplace[T any](c *Comm, buf []T, dest, sendTag, source, recvTag int) Request {
	m, e := dataOf(c, buf)
	return c.replace(callIsendrecvReplace, m, e, dest, sendTag, source, recvTag)
}
