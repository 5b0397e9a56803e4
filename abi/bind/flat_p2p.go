package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/mpi"
)

// Sends and receives pass slices instead of Buffers to package mpi where the layout in memory
// is the packed form.

// dataAt is bytesAt for messages, which may have no elements, and returns the code of the elements, too.
func (l *Lib) dataAt(address uintptr, count int, d handle) ([]byte, dtype.Code, bool) {
	i := d - firstPredefined
	if i >= handle(len(l.basics)) {
		return nil, 0, false
	}
	if count == 0 {
		return nil, l.basics[i].code, l.basics[i].size != 0
	}
	b, ok := l.bytesAt(address, count, d)
	return b, l.basics[i].code, ok
}

// send is MPI_Send.
func (l *Lib) send(c *mpi.Comm, buf uintptr, count int, d handle, dest, tag int) error {
	if bytes, code, ok := l.dataAt(buf, count, d); ok {
		return engine.Send(c, bytes, code, dest, tag)
	}
	return c.Send(l.buf(buf, count, l.datatype(d)), dest, tag)
}

// recv is MPI_Recv. It takes the arguments of C unconverted, so that the status is copied once.
func (l *Lib) recv(a args) error {
	c, err := l.comm(a.word(5), call.Recv)
	if err != nil {
		return err
	}
	var st mpi.Status
	if bytes, code, ok := l.dataAt(a.word(0), a.int(1), a.word(2)); ok {
		st, err = engine.Recv(c, bytes, code, a.int(3), a.int(4))
	} else {
		st, err = c.Recv(l.buf(a.word(0), a.int(1), l.datatype(a.word(2))), a.int(3), a.int(4))
	}
	if s := statusAt(a.word(6)); s != nil {
		s.store(&st)
	}
	return err
}

// isend is MPI_Isend.
func (l *Lib) isend(c *mpi.Comm, buf uintptr, count int, d handle, dest, tag int) mpi.Request {
	if bytes, code, ok := l.dataAt(buf, count, d); ok {
		return engine.Isend(c, bytes, code, dest, tag)
	}
	return c.Isend(l.buf(buf, count, l.datatype(d)), dest, tag)
}

// irecv is MPI_Irecv.
func (l *Lib) irecv(c *mpi.Comm, buf uintptr, count int, d handle, source, tag int) mpi.Request {
	if bytes, code, ok := l.dataAt(buf, count, d); ok {
		return engine.Irecv(c, bytes, code, source, tag)
	}
	return c.Irecv(l.buf(buf, count, l.datatype(d)), source, tag)
}

// sendrecv is MPI_Sendrecv.
func (l *Lib) sendrecv(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype handle, dest, sendtag int,
	recvbuf uintptr, recvcount int, recvtype handle, source, recvtag int) (mpi.Status, error) {
	if send, sent, ok := l.dataAt(sendbuf, sendcount, sendtype); ok {
		if recv, received, ok := l.dataAt(recvbuf, recvcount, recvtype); ok {
			return engine.Sendrecv(c, send, sent, dest, sendtag, recv, received, source, recvtag)
		}
	}
	return c.Sendrecv(l.buf(sendbuf, sendcount, l.datatype(sendtype)), dest, sendtag, l.buf(recvbuf, recvcount, l.datatype(recvtype)), source, recvtag)
}
