package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Gather collects the send slices of all members, which have the same length, at rank root in
// the order of the ranks. At the root recv has at least c.Size()*len(send) elements; other
// members' recv is ignored. In place: the root's send is its own block of recv.
//
// C: MPI_Gather, section 6.5.
func Gather[T any](c *Comm, send, recv []T, root int) error {
	return c.do(coll.Gather, sliceArgs(send, recv).WithRoot(root))
}

// Igather starts a Gather.
//
// C: MPI_Igather, section 6.12.3.
func Igather[T any](c *Comm, send, recv []T, root int) Request {
	return c.start(coll.Gather, sliceArgs(send, recv).WithRoot(root))
}

// GatherInit prepares a Gather that can be started many times.
//
// C: MPI_Gather_init, section 6.13.3.
func GatherInit[T any](c *Comm, send, recv []T, root int) Request {
	return c.prepare(coll.Gather, sliceArgs(send, recv).WithRoot(root))
}

// Gatherv collects the send slices of all members, which may differ in length, at rank root: the
// slice of rank r becomes recv[displs[r]:displs[r]+counts[r]]. With nil displs the blocks are
// adjacent, in rank order. recv, counts and displs are significant only at the root. In place:
// the root's send is its own block of recv.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Gatherv, section 6.5.
func Gatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) error {
	return c.do(coll.Gatherv, sliceArgs(send, recv).WithRoot(root).WithRecvBlocks(counts, displs))
}

// Igatherv starts a Gatherv.
//
// C: MPI_Igatherv, section 6.12.3.
func Igatherv[T any](c *Comm, send, recv []T, counts, displs []int, root int) Request {
	return c.start(coll.Gatherv, sliceArgs(send, recv).WithRoot(root).WithRecvBlocks(counts, displs))
}

// GathervInit prepares a Gatherv that can be started many times.
//
// C: MPI_Gatherv_init, section 6.13.3.
func GathervInit[T any](c *Comm, send, recv []T, counts, displs []int, root int) Request {
	return c.prepare(coll.Gatherv, sliceArgs(send, recv).WithRoot(root).WithRecvBlocks(counts, displs))
}

// Gather collects the send Buffers of all members, which have the same size in bytes, at rank
// root in the order of the ranks. At the root recv has room for c.Size() such blocks, and the
// size of a block is a whole number of elements of recv; other members' recv is ignored. In
// place: the root's send is its own block of recv.
//
// C: MPI_Gather, section 6.5.
func (c *Comm) Gather(send, recv Buffer, root int) error {
	return c.do(coll.Gather, bufferArgs(&send, &recv).WithRoot(root))
}

// Igather starts a Gather.
//
// C: MPI_Igather, section 6.12.3.
func (c *Comm) Igather(send, recv Buffer, root int) Request {
	return c.start(coll.Gather, bufferArgs(&send, &recv).WithRoot(root))
}

// GatherInit prepares a Gather that can be started many times.
//
// C: MPI_Gather_init, section 6.13.3.
func (c *Comm) GatherInit(send, recv Buffer, root int) Request {
	return c.prepare(coll.Gather, bufferArgs(&send, &recv).WithRoot(root))
}

// Gatherv collects the send Buffers of all members, which may differ in size, at rank root: the
// Buffer of rank r becomes counts[r] elements of recv, starting at element displs[r]. With nil
// displs the blocks are adjacent, in rank order. recv, counts and displs are significant only at
// the root. In place: the root's send is its own block of recv.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Gatherv, section 6.5.
func (c *Comm) Gatherv(send, recv Buffer, counts, displs []int, root int) error {
	return c.do(coll.Gatherv, bufferArgs(&send, &recv).WithRoot(root).WithRecvBlocks(counts, displs))
}

// Igatherv starts a Gatherv.
//
// C: MPI_Igatherv, section 6.12.3.
func (c *Comm) Igatherv(send, recv Buffer, counts, displs []int, root int) Request {
	return c.start(coll.Gatherv, bufferArgs(&send, &recv).WithRoot(root).WithRecvBlocks(counts, displs))
}

// GathervInit prepares a Gatherv that can be started many times.
//
// C: MPI_Gatherv_init, section 6.13.3.
func (c *Comm) GathervInit(send, recv Buffer, counts, displs []int, root int) Request {
	return c.prepare(coll.Gatherv, bufferArgs(&send, &recv).WithRoot(root).WithRecvBlocks(counts, displs))
}
