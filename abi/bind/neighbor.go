package bind

import "github.com/halo-mpi/halo/mpi"

// The functions of this file are those of collective.go for neighbourhood collectives: there are as
// many blocks as the topology of the communicator has sources, or destinations. Without a topology
// there are none, and package mpi raises the error.

// noneInPlace is the Buffer with the error of MPI_IN_PLACE in a neighbourhood collective.
func noneInPlace() mpi.Buffer {
	return engine.BufError(mpi.ErrBuffer, "MPI_IN_PLACE in a neighbourhood collective")
}

// toNeighbors returns the Buffer of n blocks to send.
func (l *Lib) toNeighbors(s side, n int) mpi.Buffer {
	if s.address == inPlace {
		return noneInPlace()
	}
	return l.elements(s, n)
}

// neighborAllgather is the arguments of MPI_Neighbor_allgather.
func (l *Lib) neighborAllgather(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype) (send, recv mpi.Buffer) {
	in, _ := engine.Degrees(c)
	return l.toNeighbors(side{sendbuf, sendcount, sendtype}, 1), l.elements(side{recvbuf, recvcount, recvtype}, in)
}

// neighborAlltoall is the arguments of MPI_Neighbor_alltoall.
func (l *Lib) neighborAlltoall(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcount int, recvtype mpi.Datatype) (send, recv mpi.Buffer) {
	in, out := engine.Degrees(c)
	return l.toNeighbors(side{sendbuf, sendcount, sendtype}, out), l.elements(side{recvbuf, recvcount, recvtype}, in)
}

// neighborAllgatherv is the arguments of MPI_Neighbor_allgatherv.
func (l *Lib) neighborAllgatherv(c *mpi.Comm, sendbuf uintptr, sendcount int, sendtype mpi.Datatype, recvbuf uintptr, recvcounts, displs array, recvtype mpi.Datatype) (send, recv mpi.Buffer, counts, places []int) {
	in, _ := engine.Degrees(c)
	to := l.spreadOf(recvbuf, in, recvcounts, displs, recvtype)
	return l.toNeighbors(side{sendbuf, sendcount, sendtype}, 1), l.buffer(&to), to.counts, to.displs
}

// neighborAlltoallv is the arguments of MPI_Neighbor_alltoallv.
func (l *Lib) neighborAlltoallv(c *mpi.Comm, sendbuf uintptr, sendcounts, sdispls array, sendtype mpi.Datatype, recvbuf uintptr, recvcounts, rdispls array, recvtype mpi.Datatype) (send mpi.Buffer, sc, sd []int, recv mpi.Buffer, rc, rd []int) {
	in, out := engine.Degrees(c)
	to := l.spreadOf(recvbuf, in, recvcounts, rdispls, recvtype)
	if sendbuf == inPlace {
		return noneInPlace(), nil, nil, l.buffer(&to), to.counts, to.displs
	}
	from := l.spreadOf(sendbuf, out, sendcounts, sdispls, sendtype)
	return l.buffer(&from), from.counts, from.displs, l.buffer(&to), to.counts, to.displs
}

// neighborAlltoallw is the arguments of MPI_Neighbor_alltoallw. Displacements are in bytes, in all
// forms of the call as MPI_Aints, and each block has a type of its own.
func (l *Lib) neighborAlltoallw(c *mpi.Comm, sendbuf uintptr, sendcounts, sdispls array, sendtypes, recvbuf uintptr, recvcounts, rdispls array, recvtypes uintptr) (send, recv []mpi.Buffer) {
	in, out := engine.Degrees(c)
	recv = l.pieces(in, recvbuf, recvcounts, rdispls, recvtypes)
	if sendbuf != inPlace {
		return l.pieces(out, sendbuf, sendcounts, sdispls, sendtypes), recv
	}
	send = make([]mpi.Buffer, out)
	for i := range send {
		send[i] = noneInPlace()
	}
	return send, recv
}
