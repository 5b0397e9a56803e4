package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Gather collects the send slices of all members, which are equally long, at
// rank root in the order of the ranks: recv there has at least
// c.Size()*len(send) elements; elsewhere it is not looked at. In place: the
// root's send is its own block of recv.
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

// Gatherv collects send slices of any lengths at rank root: that of rank r
// becomes recv[displs[r]:displs[r]+counts[r]]. With nil displs they stand one
// behind the other. Only the root looks at recv, counts and displs. In place:
// the root's send is its own block of recv.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
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

// Gather collects the send Buffers of all members, which are of the same size in
// bytes, at rank root in the order of the ranks: recv there has room for as many such
// blocks, each a whole number of its elements; elsewhere it is not looked at. In place:
// the root's send is its own block of recv.
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

// Gatherv collects send Buffers of any sizes at rank root: that of rank r becomes
// counts[r] elements of recv, from element displs[r] on. With nil displs they stand
// one behind the other. Only the root looks at recv, counts and displs. In place: the
// root's send is its own block of recv.
//
// A nonblocking or persistent one reads counts and displs until it has ended.
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
