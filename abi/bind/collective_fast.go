package bind

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/mpi"
)

// Collectives with a fast path that needs no Buffers, for valid contiguous arguments: see
// flat.go. They take the arguments of C themselves, since each further function between C
// and the engine makes them slower.

// doBcast is MPI_Bcast.
func (l *Lib) doBcast(a args) error {
	c, err := l.comm(a.word(4), call.Bcast)
	if err != nil {
		return err
	}
	buffer, count, d, root := a.word(0), a.int(1), a.word(2), a.int(3)
	if bytes, ok := l.bytesAt(buffer, count, d); ok {
		return mpi.Bcast(c, bytes, root)
	}
	return c.Bcast(l.buf(buffer, count, l.datatype(d)), root)
}

// doAllgather is MPI_Allgather.
func (l *Lib) doAllgather(a args) error {
	c, err := l.comm(a.word(6), call.Allgather)
	if err != nil {
		return err
	}
	sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype := a.word(0), a.int(1), a.word(2), a.word(3), a.int(4), a.word(5)
	if send, ok := l.bytesAt(sendbuf, sendcount, sendtype); ok && sendtype == recvtype && sendcount == recvcount && !c.Inter() {
		if recv, ok := l.bytesAt(recvbuf, times(c.Size(), recvcount), recvtype); ok && !mem.Overlap(send, recv) {
			return mpi.Allgather(c, send, recv)
		}
	}
	return c.Allgather(l.allgather(c, sendbuf, sendcount, l.datatype(sendtype), recvbuf, recvcount, l.datatype(recvtype)))
}

// doAlltoall is MPI_Alltoall.
func (l *Lib) doAlltoall(a args) error {
	c, err := l.comm(a.word(6), call.Alltoall)
	if err != nil {
		return err
	}
	sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype := a.word(0), a.int(1), a.word(2), a.word(3), a.int(4), a.word(5)
	if sendtype == recvtype && sendcount == recvcount && !c.Inter() {
		n := times(c.Size(), sendcount)
		if send, ok := l.bytesAt(sendbuf, n, sendtype); ok {
			if recv, ok := l.bytesAt(recvbuf, n, recvtype); ok && !mem.Overlap(send, recv) {
				return mpi.Alltoall(c, send, recv)
			}
		}
	}
	return c.Alltoall(l.alltoall(c, sendbuf, sendcount, l.datatype(sendtype), recvbuf, recvcount, l.datatype(recvtype)))
}

// doReduce is MPI_Reduce.
func (l *Lib) doReduce(a args) error {
	c, err := l.comm(a.word(6), call.Reduce)
	if err != nil {
		return err
	}
	sendbuf, recvbuf, count, d, o, root := a.word(0), a.word(1), a.int(2), a.word(3), l.operation(a, 4), a.int(5)
	if b := l.operands(sendbuf, recvbuf, count, d, a.word(4)); b != nil && !c.Inter() {
		n := count * int(b.size)
		return engine.Reduce(c, elementsAt[byte](sendbuf, n), elementsAt[byte](recvbuf, n), o, b.typ, b.code, root)
	}
	return c.Reduce(l.reduce(c, sendbuf, recvbuf, count, l.datatype(d), o, root))
}

// doAllreduce is MPI_Allreduce.
func (l *Lib) doAllreduce(a args) error {
	c, err := l.comm(a.word(5), call.Allreduce)
	if err != nil {
		return err
	}
	sendbuf, recvbuf, count, d, o := a.word(0), a.word(1), a.int(2), a.word(3), l.operation(a, 4)
	if b := l.operands(sendbuf, recvbuf, count, d, a.word(4)); b != nil && !c.Inter() {
		n := count * int(b.size)
		return engine.Allreduce(c, elementsAt[byte](sendbuf, n), elementsAt[byte](recvbuf, n), o, b.typ, b.code)
	}
	return c.Allreduce(l.allreduce(sendbuf, recvbuf, count, l.datatype(d), o))
}
