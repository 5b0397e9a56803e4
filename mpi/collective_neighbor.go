package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Neighbourhood collectives exchange with the neighbours in the topology of the communicator:
// sources, which a process receives from, and destinations, which it sends to. In a grid both are
// the 2*len(dims) neighbours, in each dimension the one before and then the one after; in a graph
// both are Graph.Neighbors; in a distributed graph they are Sources and Dests. All members of the
// communicator call them.
//
// A neighbour may occur several times. In graphs the i-th edge from A to B in the list of A is the
// i-th from A in the list of B. In grids what goes in one direction of a dimension arrives from the
// opposite one, also if the dimension is periodic and so short that both lead to the same process.
// Beyond the end of a dimension that is not periodic nothing is sent, and blocks to receive keep
// what they have.
//
// There is no in place: send and recv do not overlap. ErrTopology if the communicator has no topology,
// or edges do not pair.

// NeighborAllgather sends send to all destinations, and receives what the sources send into the blocks of
// recv, which is divided into blocks of equal length, one of each source. What is sent along an edge
// is as long as the block that receives it.
//
// C: MPI_Neighbor_allgather, section 8.6.1.
func NeighborAllgather[T any](c *Comm, send, recv []T) error {
	return c.do(coll.NeighborAllgather, sliceArgs(send, recv))
}

// IneighborAllgather starts a NeighborAllgather.
//
// C: MPI_Ineighbor_allgather, section 8.7.1.
func IneighborAllgather[T any](c *Comm, send, recv []T) Request {
	return c.start(coll.NeighborAllgather, sliceArgs(send, recv))
}

// NeighborAllgatherInit prepares a NeighborAllgather that can be started many times.
//
// C: MPI_Neighbor_allgather_init, section 8.8.1.
func NeighborAllgatherInit[T any](c *Comm, send, recv []T) Request {
	return c.prepare(coll.NeighborAllgather, sliceArgs(send, recv))
}

// NeighborAllgatherv sends send to all destinations, and receives what source i sends into
// recv[displs[i]:displs[i]+counts[i]]. With nil displs the blocks are adjacent, in the order of the
// sources.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Neighbor_allgatherv, section 8.6.1.
func NeighborAllgatherv[T any](c *Comm, send, recv []T, counts, displs []int) error {
	return c.do(coll.NeighborAllgatherv, sliceArgs(send, recv).WithRecvBlocks(counts, displs))
}

// IneighborAllgatherv starts a NeighborAllgatherv.
//
// C: MPI_Ineighbor_allgatherv, section 8.7.1.
func IneighborAllgatherv[T any](c *Comm, send, recv []T, counts, displs []int) Request {
	return c.start(coll.NeighborAllgatherv, sliceArgs(send, recv).WithRecvBlocks(counts, displs))
}

// NeighborAllgathervInit prepares a NeighborAllgatherv that can be started many times.
//
// C: MPI_Neighbor_allgatherv_init, section 8.8.1.
func NeighborAllgathervInit[T any](c *Comm, send, recv []T, counts, displs []int) Request {
	return c.prepare(coll.NeighborAllgatherv, sliceArgs(send, recv).WithRecvBlocks(counts, displs))
}

// NeighborAlltoall divides send into blocks of equal length, one for each destination, and recv into
// one of each source. It sends block i of send to destination i, and receives what source i sends into
// block i of recv.
//
// C: MPI_Neighbor_alltoall, section 8.6.2.
func NeighborAlltoall[T any](c *Comm, send, recv []T) error {
	return c.do(coll.NeighborAlltoall, sliceArgs(send, recv))
}

// IneighborAlltoall starts a NeighborAlltoall.
//
// C: MPI_Ineighbor_alltoall, section 8.7.2.
func IneighborAlltoall[T any](c *Comm, send, recv []T) Request {
	return c.start(coll.NeighborAlltoall, sliceArgs(send, recv))
}

// NeighborAlltoallInit prepares a NeighborAlltoall that can be started many times.
//
// C: MPI_Neighbor_alltoall_init, section 8.8.2.
func NeighborAlltoallInit[T any](c *Comm, send, recv []T) Request {
	return c.prepare(coll.NeighborAlltoall, sliceArgs(send, recv))
}

// NeighborAlltoallv sends send[sendDispls[i]:sendDispls[i]+sendCounts[i]] to destination i, and
// receives what source i sends into recv[recvDispls[i]:recvDispls[i]+recvCounts[i]]. With nil
// displacements the blocks are adjacent, in the order of the neighbours.
//
// The nonblocking and persistent forms read counts and displacements until the operation has
// ended.
//
// C: MPI_Neighbor_alltoallv, section 8.6.2.
func NeighborAlltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) error {
	return c.do(coll.NeighborAlltoallv, sliceArgs(send, recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// IneighborAlltoallv starts a NeighborAlltoallv.
//
// C: MPI_Ineighbor_alltoallv, section 8.7.2.
func IneighborAlltoallv[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) Request {
	return c.start(coll.NeighborAlltoallv, sliceArgs(send, recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// NeighborAlltoallvInit prepares a NeighborAlltoallv that can be started many times.
//
// C: MPI_Neighbor_alltoallv_init, section 8.8.2.
func NeighborAlltoallvInit[T any](c *Comm, send []T, sendCounts, sendDispls []int, recv []T, recvCounts, recvDispls []int) Request {
	return c.prepare(coll.NeighborAlltoallv, sliceArgs(send, recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// NeighborAllgather is the function of that name for Buffers, which may have any types: blocks that
// are sent and received have the same size in bytes. The number of elements of recv is a multiple of
// the number of sources.
//
// C: MPI_Neighbor_allgather, section 8.6.1.
func (c *Comm) NeighborAllgather(send, recv Buffer) error {
	return c.do(coll.NeighborAllgather, bufferArgs(&send, &recv))
}

// IneighborAllgather starts a NeighborAllgather.
//
// C: MPI_Ineighbor_allgather, section 8.7.1.
func (c *Comm) IneighborAllgather(send, recv Buffer) Request {
	return c.start(coll.NeighborAllgather, bufferArgs(&send, &recv))
}

// NeighborAllgatherInit prepares a NeighborAllgather that can be started many times.
//
// C: MPI_Neighbor_allgather_init, section 8.8.1.
func (c *Comm) NeighborAllgatherInit(send, recv Buffer) Request {
	return c.prepare(coll.NeighborAllgather, bufferArgs(&send, &recv))
}

// NeighborAllgatherv is the function of that name for Buffers: what source i sends becomes counts[i]
// elements of recv, starting at element displs[i].
//
// C: MPI_Neighbor_allgatherv, section 8.6.1.
func (c *Comm) NeighborAllgatherv(send, recv Buffer, counts, displs []int) error {
	return c.do(coll.NeighborAllgatherv, bufferArgs(&send, &recv).WithRecvBlocks(counts, displs))
}

// IneighborAllgatherv starts a NeighborAllgatherv.
//
// C: MPI_Ineighbor_allgatherv, section 8.7.1.
func (c *Comm) IneighborAllgatherv(send, recv Buffer, counts, displs []int) Request {
	return c.start(coll.NeighborAllgatherv, bufferArgs(&send, &recv).WithRecvBlocks(counts, displs))
}

// NeighborAllgathervInit prepares a NeighborAllgatherv that can be started many times.
//
// C: MPI_Neighbor_allgatherv_init, section 8.8.1.
func (c *Comm) NeighborAllgathervInit(send, recv Buffer, counts, displs []int) Request {
	return c.prepare(coll.NeighborAllgatherv, bufferArgs(&send, &recv).WithRecvBlocks(counts, displs))
}

// NeighborAlltoall is the function of that name for Buffers, which may have any types: blocks that
// are sent and received have the same size in bytes. The numbers of elements are multiples of the
// numbers of neighbours.
//
// C: MPI_Neighbor_alltoall, section 8.6.2.
func (c *Comm) NeighborAlltoall(send, recv Buffer) error {
	return c.do(coll.NeighborAlltoall, bufferArgs(&send, &recv))
}

// IneighborAlltoall starts a NeighborAlltoall.
//
// C: MPI_Ineighbor_alltoall, section 8.7.2.
func (c *Comm) IneighborAlltoall(send, recv Buffer) Request {
	return c.start(coll.NeighborAlltoall, bufferArgs(&send, &recv))
}

// NeighborAlltoallInit prepares a NeighborAlltoall that can be started many times.
//
// C: MPI_Neighbor_alltoall_init, section 8.8.2.
func (c *Comm) NeighborAlltoallInit(send, recv Buffer) Request {
	return c.prepare(coll.NeighborAlltoall, bufferArgs(&send, &recv))
}

// NeighborAlltoallv is the function of that name for Buffers: it sends sendCounts[i] elements of send,
// starting at element sendDispls[i], and receives recvCounts[i] elements of recv, starting at element
// recvDispls[i].
//
// C: MPI_Neighbor_alltoallv, section 8.6.2.
func (c *Comm) NeighborAlltoallv(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) error {
	return c.do(coll.NeighborAlltoallv, bufferArgs(&send, &recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// IneighborAlltoallv starts a NeighborAlltoallv.
//
// C: MPI_Ineighbor_alltoallv, section 8.7.2.
func (c *Comm) IneighborAlltoallv(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) Request {
	return c.start(coll.NeighborAlltoallv, bufferArgs(&send, &recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// NeighborAlltoallvInit prepares a NeighborAlltoallv that can be started many times.
//
// C: MPI_Neighbor_alltoallv_init, section 8.8.2.
func (c *Comm) NeighborAlltoallvInit(send Buffer, sendCounts, sendDispls []int, recv Buffer, recvCounts, recvDispls []int) Request {
	return c.prepare(coll.NeighborAlltoallv, bufferArgs(&send, &recv).WithSendBlocks(sendCounts, sendDispls).WithRecvBlocks(recvCounts, recvDispls))
}

// NeighborAlltoallw sends send[i] to destination i, and receives from source i into recv[i]. The
// Buffers may have any types and sizes. What is sent along an edge has the same size in bytes as what
// is received, and may be empty. With a type for each face of an array it exchanges the faces without a
// copy of the program.
//
// C: MPI_Neighbor_alltoallw, section 8.6.2.
func (c *Comm) NeighborAlltoallw(send, recv []Buffer) error {
	return c.doPairs(coll.NeighborAlltoallw, send, recv)
}

// IneighborAlltoallw starts a NeighborAlltoallw. The caller may change the slices send and recv, but
// not the data of their Buffers, as soon as the call returns.
//
// C: MPI_Ineighbor_alltoallw, section 8.7.2.
func (c *Comm) IneighborAlltoallw(send, recv []Buffer) Request {
	return c.requestPairs(coll.NeighborAlltoallw, nonblocking, send, recv)
}

// NeighborAlltoallwInit prepares a NeighborAlltoallw that can be started many times. The caller may
// change the slices send and recv as soon as the call returns. The Buffers' data belongs to the
// operation while it is active.
//
// C: MPI_Neighbor_alltoallw_init, section 8.8.2.
func (c *Comm) NeighborAlltoallwInit(send, recv []Buffer) Request {
	return c.requestPairs(coll.NeighborAlltoallw, persistent, send, recv)
}

// Degrees returns the numbers of sources and destinations of this process in the topology of c, 0
// without one.
func (internals) Degrees(c *Comm) (in, out int) {
	if n := c.core.Neighbors; n != nil {
		return len(n.Sources), len(n.Dests)
	}
	return 0, 0
}
