package bind

import (
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/mpi"
)

// Calls that take the short way where they can, see flat.

// bcastNow is MPI_Bcast.
func (l *Lib) bcastNow(c *mpi.Comm, buffer uintptr, count int, d handle, root int) error {
	if bytes, ok := l.bytesAt(buffer, count, d); ok {
		return mpi.Bcast(c, bytes, root)
	}
	return c.Bcast(l.buf(buffer, count, l.datatype(d)), root)
}

// allgatherNow is MPI_Allgather.
func (l *Lib) allgatherNow(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype handle, recvbuf uintptr, recvcount int, recvtype handle) error {
	if send, ok := l.bytesAt(sendbuf, sendcount, sendtype); ok && sendtype == recvtype && sendcount == recvcount && !c.Inter() {
		if recv, ok := l.bytesAt(recvbuf, times(c.Size(), recvcount), recvtype); ok && !mem.Overlap(send, recv) {
			return mpi.Allgather(c, send, recv)
		}
	}
	return c.Allgather(l.allgather(c, sendbuf, sendcount, l.datatype(sendtype), recvbuf, recvcount, l.datatype(recvtype)))
}

// alltoallNow is MPI_Alltoall.
func (l *Lib) alltoallNow(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype handle, recvbuf uintptr, recvcount int, recvtype handle) error {
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

// reduceNow is MPI_Reduce.
func (l *Lib) reduceNow(c *mpi.Comm, sendbuf, recvbuf uintptr, count int, d handle, op mpi.Op, root int) error {
	if f := l.flat(d, count, sendbuf, recvbuf); f.combines(op) && sendbuf != recvbuf && !c.Inter() {
		return f.reduce(c, sendbuf, recvbuf, count, op, root)
	}
	return c.Reduce(l.reduce(c, sendbuf, recvbuf, count, l.datatype(d), op, root))
}

// allreduceNow is MPI_Allreduce.
func (l *Lib) allreduceNow(c *mpi.Comm, sendbuf, recvbuf uintptr, count int, d handle, op mpi.Op) error {
	if f := l.flat(d, count, sendbuf, recvbuf); f.combines(op) && sendbuf != recvbuf && !c.Inter() {
		return f.allreduce(c, sendbuf, recvbuf, count, op)
	}
	return c.Allreduce(l.allreduce(sendbuf, recvbuf, count, l.datatype(d), op))
}

// reduceLocal is MPI_Reduce_local.
func (l *Lib) reduceLocal(inbuf, inoutbuf uintptr, count int, d handle, op mpi.Op) error {
	if f := l.flat(d, count, inbuf, inoutbuf); f.combines(op) {
		return f.local(inbuf, inoutbuf, count, op)
	}
	t := l.datatype(d)
	return op.ReduceLocal(l.buf(inbuf, count, t), l.buf(inoutbuf, count, t))
}

// put is MPI_Put.
func (l *Lib) put(w *mpi.Window, origin uintptr, count int, d handle, target int, disp int64, targetCount int, targetType handle) error {
	if from, ok := l.bytesAt(origin, count, d); ok && d == targetType && count == targetCount {
		return mpi.Put(w, from, target, int(disp))
	}
	return w.Untyped().Put(l.buf(origin, count, l.datatype(d)), target, disp, targetCount, l.datatype(targetType))
}

// get is MPI_Get.
func (l *Lib) get(w *mpi.Window, origin uintptr, count int, d handle, target int, disp int64, targetCount int, targetType handle) error {
	if to, ok := l.bytesAt(origin, count, d); ok && d == targetType && count == targetCount {
		return mpi.Get(w, to, target, int(disp))
	}
	return w.Untyped().Get(l.buf(origin, count, l.datatype(d)), target, disp, targetCount, l.datatype(targetType))
}

// accumulate is MPI_Accumulate.
func (l *Lib) accumulate(w *mpi.Window, origin uintptr, count int, d handle, target int, disp int64, targetCount int, targetType handle, op mpi.Op) error {
	if f := l.flat(d, count, origin, origin); f.accumulates(op) && d == targetType && count == targetCount {
		return f.accumulate(w, origin, count, target, int(disp), op)
	}
	return w.Untyped().Accumulate(l.buf(origin, count, l.datatype(d)), target, disp, targetCount, l.datatype(targetType), op)
}

// getAccumulate is MPI_Get_accumulate.
func (l *Lib) getAccumulate(w *mpi.Window, origin uintptr, count int, d handle, result uintptr, resultCount int, resultType handle, target int, disp int64, targetCount int, targetType handle, op mpi.Op) error {
	if f := l.flat(d, count, origin, result); f.accumulates(op) && d == targetType && d == resultType && count == targetCount && count == resultCount {
		return f.getAccumulate(w, origin, result, count, target, int(disp), op)
	}
	return w.Untyped().GetAccumulate(l.buf(origin, count, l.datatype(d)), l.buf(result, resultCount, l.datatype(resultType)), target, disp, targetCount, l.datatype(targetType), op)
}
