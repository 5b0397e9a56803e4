package bind

import "github.com/halo-mpi/halo/mpi"

// Sends and receives pass slices instead of Buffers to package mpi where the layout in memory
// is the packed form.

// dataAt is bytesAt for messages, which may have no elements.
func (l *Lib) dataAt(address uintptr, count int, d handle) ([]byte, bool) {
	if i := d - firstPredefined; count == 0 && i < handle(len(l.basics)) {
		return nil, l.basics[i].size != 0
	}
	return l.bytesAt(address, count, d)
}

// send is MPI_Send.
func (l *Lib) send(c *mpi.Comm, buf uintptr, count int, d handle, dest, tag int) error {
	if bytes, ok := l.dataAt(buf, count, d); ok {
		return mpi.Send(c, bytes, dest, tag)
	}
	return c.Send(l.buf(buf, count, l.datatype(d)), dest, tag)
}

// recv is MPI_Recv. It takes the arguments of C unconverted, so that the status is copied once.
func (l *Lib) recv(a args) error {
	c, err := l.comm(a.word(5), "MPI_Recv")
	if err != nil {
		return err
	}
	var st mpi.Status
	if bytes, ok := l.dataAt(a.word(0), a.int(1), a.word(2)); ok {
		st, err = mpi.Recv(c, bytes, a.int(3), a.int(4))
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
	if bytes, ok := l.dataAt(buf, count, d); ok {
		return mpi.Isend(c, bytes, dest, tag)
	}
	return c.Isend(l.buf(buf, count, l.datatype(d)), dest, tag)
}

// irecv is MPI_Irecv.
func (l *Lib) irecv(c *mpi.Comm, buf uintptr, count int, d handle, source, tag int) mpi.Request {
	if bytes, ok := l.dataAt(buf, count, d); ok {
		return mpi.Irecv(c, bytes, source, tag)
	}
	return c.Irecv(l.buf(buf, count, l.datatype(d)), source, tag)
}

// sendrecv is MPI_Sendrecv.
func (l *Lib) sendrecv(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype handle, dest, sendtag int,
	recvbuf uintptr, recvcount int, recvtype handle, source, recvtag int) (mpi.Status, error) {
	if send, ok := l.dataAt(sendbuf, sendcount, sendtype); ok {
		if recv, ok := l.dataAt(recvbuf, recvcount, recvtype); ok {
			return mpi.Sendrecv(c, send, dest, sendtag, recv, source, recvtag)
		}
	}
	return c.Sendrecv(l.buf(sendbuf, sendcount, l.datatype(sendtype)), dest, sendtag, l.buf(recvbuf, recvcount, l.datatype(recvtype)), source, recvtag)
}
