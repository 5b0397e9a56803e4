package mpi

import "github.com/halo-mpi/halo/internal/coll"

// ReduceScatterBlock combines the send slices of all members element by element, divides the
// result into c.Size() blocks of equal length, and stores block r in recv of rank r. recv is at
// least as long as a block. In place: recv is the beginning of send.
//
// C: MPI_Reduce_scatter_block, section 6.10.1.
func ReduceScatterBlock[T Elem](c *Comm, send, recv []T, op Op) error {
	return c.do(coll.ReduceScatterBlock, reduction(send, recv, op))
}

// IreduceScatterBlock starts a ReduceScatterBlock.
//
// C: MPI_Ireduce_scatter_block, section 6.12.9.
func IreduceScatterBlock[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.start(coll.ReduceScatterBlock, reduction(send, recv, op))
}

// ReduceScatterBlockInit prepares a ReduceScatterBlock that can be started many times.
//
// C: MPI_Reduce_scatter_block_init, section 6.13.9.
func ReduceScatterBlockInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.prepare(coll.ReduceScatterBlock, reduction(send, recv, op))
}

// ReduceScatter combines the send slices of all members element by element, divides the result
// into adjacent blocks in rank order, and stores the block of rank r, which has counts[r]
// elements, in recv of rank r. recv is at least as long as that. All members pass the same
// counts, whose sum is len(send). In place: recv is the beginning of send.
//
// The nonblocking and persistent forms read counts until the operation has ended.
//
// C: MPI_Reduce_scatter, section 6.10.2.
func ReduceScatter[T Elem](c *Comm, send, recv []T, counts []int, op Op) error {
	return c.do(coll.ReduceScatter, reduction(send, recv, op).WithSendBlocks(counts, nil))
}

// IreduceScatter starts a ReduceScatter.
//
// C: MPI_Ireduce_scatter, section 6.12.10.
func IreduceScatter[T Elem](c *Comm, send, recv []T, counts []int, op Op) Request {
	return c.start(coll.ReduceScatter, reduction(send, recv, op).WithSendBlocks(counts, nil))
}

// ReduceScatterInit prepares a ReduceScatter that can be started many times.
//
// C: MPI_Reduce_scatter_init, section 6.13.10.
func ReduceScatterInit[T Elem](c *Comm, send, recv []T, counts []int, op Op) Request {
	return c.prepare(coll.ReduceScatter, reduction(send, recv, op).WithSendBlocks(counts, nil))
}

// ReduceScatterBlock is the function ReduceScatterBlock for Buffers; see Comm.Reduce.
//
// C: MPI_Reduce_scatter_block, section 6.10.1.
func (c *Comm) ReduceScatterBlock(send, recv Buffer, op Op) error {
	return c.do(coll.ReduceScatterBlock, c.operands(coll.ReduceScatterBlock, &send, &recv, op, 0))
}

// IreduceScatterBlock starts a ReduceScatterBlock.
//
// C: MPI_Ireduce_scatter_block, section 6.12.9.
func (c *Comm) IreduceScatterBlock(send, recv Buffer, op Op) Request {
	return c.start(coll.ReduceScatterBlock, c.operands(coll.ReduceScatterBlock, &send, &recv, op, 0))
}

// ReduceScatterBlockInit prepares a ReduceScatterBlock that can be started many times.
//
// C: MPI_Reduce_scatter_block_init, section 6.13.9.
func (c *Comm) ReduceScatterBlockInit(send, recv Buffer, op Op) Request {
	return c.prepare(coll.ReduceScatterBlock, c.operands(coll.ReduceScatterBlock, &send, &recv, op, 0))
}

// ReduceScatter is the function ReduceScatter for Buffers; see Comm.Reduce. counts are numbers
// of elements of send.
//
// C: MPI_Reduce_scatter, section 6.10.2.
func (c *Comm) ReduceScatter(send, recv Buffer, counts []int, op Op) error {
	return c.do(coll.ReduceScatter, c.operands(coll.ReduceScatter, &send, &recv, op, 0).WithSendBlocks(counts, nil))
}

// IreduceScatter starts a ReduceScatter.
//
// C: MPI_Ireduce_scatter, section 6.12.10.
func (c *Comm) IreduceScatter(send, recv Buffer, counts []int, op Op) Request {
	return c.start(coll.ReduceScatter, c.operands(coll.ReduceScatter, &send, &recv, op, 0).WithSendBlocks(counts, nil))
}

// ReduceScatterInit prepares a ReduceScatter that can be started many times.
//
// C: MPI_Reduce_scatter_init, section 6.13.10.
func (c *Comm) ReduceScatterInit(send, recv Buffer, counts []int, op Op) Request {
	return c.prepare(coll.ReduceScatter, c.operands(coll.ReduceScatter, &send, &recv, op, 0).WithSendBlocks(counts, nil))
}
