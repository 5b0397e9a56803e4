package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Scatter distributes the send slice of rank root to all members in the order of the ranks,
// len(recv) elements to each. At the root send has at least c.Size()*len(recv) elements; other
// members' send is ignored. In place: the root's recv is its own block of send.
//
// C: MPI_Scatter, section 6.6.
func Scatter[T any](c *Comm, send, recv []T, root int) error {
	return c.do(coll.Scatter, sliceArgs(send, recv).WithRoot(root))
}

// Iscatter starts a Scatter.
//
// C: MPI_Iscatter, section 6.12.4.
func Iscatter[T any](c *Comm, send, recv []T, root int) Request {
	return c.start(coll.Scatter, sliceArgs(send, recv).WithRoot(root))
}

// ScatterInit prepares a Scatter that can be started many times.
//
// C: MPI_Scatter_init, section 6.13.4.
func ScatterInit[T any](c *Comm, send, recv []T, root int) Request {
	return c.prepare(coll.Scatter, sliceArgs(send, recv).WithRoot(root))
}

// Scatterv distributes blocks of the send slice of rank root: rank r, whose recv has counts[r]
// elements, receives send[displs[r]:displs[r]+counts[r]]. With nil displs the blocks are
// adjacent, in rank order. send, counts and displs are significant only at the root. In place:
// the root's recv is its own block of send.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Scatterv, section 6.6.
func Scatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) error {
	return c.do(coll.Scatterv, sliceArgs(send, recv).WithRoot(root).WithSendBlocks(counts, displs))
}

// Iscatterv starts a Scatterv.
//
// C: MPI_Iscatterv, section 6.12.4.
func Iscatterv[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) Request {
	return c.start(coll.Scatterv, sliceArgs(send, recv).WithRoot(root).WithSendBlocks(counts, displs))
}

// ScattervInit prepares a Scatterv that can be started many times.
//
// C: MPI_Scatterv_init, section 6.13.4.
func ScattervInit[T any](c *Comm, send []T, counts, displs []int, recv []T, root int) Request {
	return c.prepare(coll.Scatterv, sliceArgs(send, recv).WithRoot(root).WithSendBlocks(counts, displs))
}

// Scatter distributes the send Buffer of rank root to all members in blocks of equal size, in
// the order of the ranks. The size of a block is the size of recv in bytes, which is the same at
// all members and a whole number of elements of send. send is significant only at the root. In
// place: the root's recv is its own block of send.
//
// C: MPI_Scatter, section 6.6.
func (c *Comm) Scatter(send, recv Buffer, root int) error {
	return c.do(coll.Scatter, bufferArgs(&send, &recv).WithRoot(root))
}

// Iscatter starts a Scatter.
//
// C: MPI_Iscatter, section 6.12.4.
func (c *Comm) Iscatter(send, recv Buffer, root int) Request {
	return c.start(coll.Scatter, bufferArgs(&send, &recv).WithRoot(root))
}

// ScatterInit prepares a Scatter that can be started many times.
//
// C: MPI_Scatter_init, section 6.13.4.
func (c *Comm) ScatterInit(send, recv Buffer, root int) Request {
	return c.prepare(coll.Scatter, bufferArgs(&send, &recv).WithRoot(root))
}

// Scatterv sends to rank r counts[r] elements of the send Buffer of rank root, starting at
// element displs[r]. With nil displs the blocks are adjacent, in rank order. send, counts and
// displs are significant only at the root. In place: the root's recv is its own block of send.
//
// The nonblocking and persistent forms read counts and displs until the operation has ended.
//
// C: MPI_Scatterv, section 6.6.
func (c *Comm) Scatterv(send Buffer, counts, displs []int, recv Buffer, root int) error {
	return c.do(coll.Scatterv, bufferArgs(&send, &recv).WithRoot(root).WithSendBlocks(counts, displs))
}

// Iscatterv starts a Scatterv.
//
// C: MPI_Iscatterv, section 6.12.4.
func (c *Comm) Iscatterv(send Buffer, counts, displs []int, recv Buffer, root int) Request {
	return c.start(coll.Scatterv, bufferArgs(&send, &recv).WithRoot(root).WithSendBlocks(counts, displs))
}

// ScattervInit prepares a Scatterv that can be started many times.
//
// C: MPI_Scatterv_init, section 6.13.4.
func (c *Comm) ScattervInit(send Buffer, counts, displs []int, recv Buffer, root int) Request {
	return c.prepare(coll.Scatterv, bufferArgs(&send, &recv).WithRoot(root).WithSendBlocks(counts, displs))
}
