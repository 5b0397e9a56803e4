package bind

import "github.com/halo-mpi/halo/mpi"

// reduce is the arguments of MPI_Reduce.
func (l *Lib) reduce(c *mpi.Comm, sendbuf, recvbuf uintptr, count int, d mpi.Datatype, op mpi.Op, root int) (send, recv mpi.Buffer, o mpi.Op, r int) {
	if c.Inter() {
		if root >= 0 {
			return l.alone(sendbuf, count, d), recv, op, root
		}
		if root == mpi.Root {
			recv = l.buf(recvbuf, count, d)
		}
		return send, recv, op, root
	}
	if c.Rank() != root {
		return l.buf(sendbuf, count, d), recv, op, root
	}
	send, recv, _ = l.allreduce(sendbuf, recvbuf, count, d, op)
	return send, recv, op, root
}

// allreduce is the arguments of MPI_Allreduce, MPI_Scan and MPI_Exscan.
func (l *Lib) allreduce(sendbuf, recvbuf uintptr, count int, d mpi.Datatype, op mpi.Op) (send, recv mpi.Buffer, o mpi.Op) {
	recv = l.buf(recvbuf, count, d)
	if sendbuf == inPlace {
		return recv, recv, op
	}
	return l.buf(sendbuf, count, d), own(side{sendbuf, count, d}, side{recvbuf, count, d}, recv), op
}

// reduceScatterBlock is the arguments of MPI_Reduce_scatter_block.
func (l *Lib) reduceScatterBlock(c *mpi.Comm, sendbuf, recvbuf uintptr, count int, d mpi.Datatype, op mpi.Op) (send, recv mpi.Buffer, o mpi.Op) {
	send, recv = l.scattered(sendbuf, recvbuf, times(c.Size(), count), count, d)
	return send, recv, op
}

// reduceScatter is the arguments of MPI_Reduce_scatter.
func (l *Lib) reduceScatter(c *mpi.Comm, sendbuf, recvbuf uintptr, recvcounts array, d mpi.Datatype, op mpi.Op) (send, recv mpi.Buffer, counts []int, o mpi.Op) {
	counts = recvcounts.ints(c.Size())
	total, mine := 0, 0
	for r, k := range counts {
		total += max(k, 0) // package mpi reports negative counts
		if r == c.Rank() {
			mine = max(k, 0)
		}
	}
	send, recv = l.scattered(sendbuf, recvbuf, total, mine, d)
	return send, recv, counts, op
}

// scattered returns the Buffers of a reduction of total elements, of whose result the caller
// gets mine. With MPI_IN_PLACE the operand is in recvbuf.
func (l *Lib) scattered(sendbuf, recvbuf uintptr, total, mine int, d mpi.Datatype) (send, recv mpi.Buffer) {
	recv = l.buf(recvbuf, mine, d)
	if sendbuf == inPlace {
		return l.buf(recvbuf, total, d), recv
	}
	return l.buf(sendbuf, total, d), own(side{sendbuf, mine, d}, side{recvbuf, mine, d}, recv)
}
