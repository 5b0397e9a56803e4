package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/sys"
)

// Recv receives into buf a message from rank source of c, or from AnySource, with the given tag,
// or AnyTag. The message may be shorter than buf: see Count. If it is longer, Recv fills buf and
// returns ErrTruncate. ErrType if the elements have another type; bytes match any type.
// ErrProcFailed if there is no message and the source has died, or with AnySource if any member
// of c has died.
//
// C: MPI_Recv, section 3.2.4.
func Recv[T any](c *Comm, buf []T, source, tag int) (st Status, err error) {
	m, e := dataOf(c, buf)
	err = c.recv(call.Recv, m, e, source, tag, &st)
	return st, err
}

// Irecv starts to receive into buf, which the program must not access until the request is
// complete. The error of an invalid argument is returned when the program waits for the request.
//
// C: MPI_Irecv, section 3.7.2.
func Irecv[T any](c *Comm, buf []T, source, tag int) Request {
	m, e := dataOf(c, buf)
	return c.irecv(m, e, source, tag)
}

// RecvSlice receives a message of any length into a new slice of plain data.
//
// Errors: those of Recv; ErrType if the message does not contain a whole number of elements;
// ErrNoMem if it is longer than the memory of this machine: then the message is lost, and its
// sender's operation completes.
//
// C: MPI_Mprobe and MPI_Mrecv, section 3.8.2.
func RecvSlice[T any](c *Comm, source, tag int) ([]T, Status, error) {
	if err := c.check(call.RecvSlice, source, tag, true); err != nil {
		return nil, emptyStatus(), err
	}
	size, err := packedSize[T]()
	if err != nil {
		return nil, emptyStatus(), wrap(err, call.RecvSlice, c, source, tag)
	}
	m, st, err := c.mprobe(call.RecvSlice, source, tag)
	if err != nil {
		return nil, st, err
	}
	if have := sys.PhysicalMemory(); uint64(st.bytes) > have {
		m.drop()
		e := newError(ErrNoMem, call.RecvSlice, c, "message of %d bytes does not fit into the %d bytes of memory of this machine", st.bytes, have)
		e.Peer, e.Tag, e.receive = st.Source, st.Tag, true
		return nil, st, e.raised()
	}
	buf := make([]T, (st.bytes+size-1)/max(size, 1))
	room, e := dataOf(c, buf)
	q := m.receive(call.RecvSlice, room, e)
	st, err = q.Wait()
	if err == nil && st.bytes != int64(len(buf))*size {
		e := newError(ErrType, call.RecvSlice, c, "message of %d bytes is not a whole number of %d-byte elements", st.bytes, size)
		e.Peer, e.Tag, e.receive = source, tag, true
		err = e.raised()
	}
	return buf, st, err
}

// Sendrecv sends send to rank dest and receives into recv from rank source. The two happen in
// any order, so that a shift along a chain cannot deadlock. The buffers must not overlap. The
// status is that of the receive.
//
// C: MPI_Sendrecv, section 3.10.
func Sendrecv[S, R any](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) (Status, error) {
	out, sent := dataOf(c, send)
	in, received := dataOf(c, recv)
	r := c.exchange(call.Sendrecv, out, sent, dest, sendTag, in, received, source, recvTag)
	return r.Wait()
}

// Isendrecv starts a Sendrecv. Its request completes when the send and the receive are complete.
//
// C: MPI_Isendrecv, section 3.10.
func Isendrecv[S, R any](c *Comm, send []S, dest, sendTag int, recv []R, source, recvTag int) Request {
	out, sent := dataOf(c, send)
	in, received := dataOf(c, recv)
	return c.exchange(call.Isendrecv, out, sent, dest, sendTag, in, received, source, recvTag)
}

// SendrecvReplace is Sendrecv with one buffer: the received message replaces the message that is
// sent.
//
// C: MPI_Sendrecv_replace, section 3.10.
func SendrecvReplace[T any](c *Comm, buf []T, dest, sendTag, source, recvTag int) (Status, error) {
	m, e := dataOf(c, buf)
	r := c.replace(call.SendrecvReplace, m, e, dest, sendTag, source, recvTag)
	return r.Wait()
}

// IsendrecvReplace starts a SendrecvReplace.
//
// C: MPI_Isendrecv_replace, section 3.10.
func IsendrecvReplace[T any](c *Comm, buf []T, dest, sendTag, source, recvTag int) Request {
	m, e := dataOf(c, buf)
	return c.replace(call.IsendrecvReplace, m, e, dest, sendTag, source, recvTag)
}
