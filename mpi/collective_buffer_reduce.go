package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Reduce is the function Reduce for Buffers: elements of send take the place of
// elements of the slice.
//
// Elements of send and recv are made of the same basic types, as they are at all
// members, else that is ErrType; only where they lie is free. What is between them is
// not touched. A predefined operation needs a basic type, or one of pairs, whose
// padding counts as part of them; others are ErrOp. An operation of CreateOpFunc
// takes every type.
//
// C: MPI_Reduce, section 6.9.1.
func (c *Comm) Reduce(send, recv Buffer, op Op, root int) error {
	return c.reduceNow(coll.Reduce, &send, &recv, op, root, nil)
}

// Ireduce starts a Reduce.
//
// C: MPI_Ireduce, section 6.12.7.
func (c *Comm) Ireduce(send, recv Buffer, op Op, root int) Request {
	return c.reduceLater(coll.Reduce, nonblocking, &send, &recv, op, root, nil)
}

// ReduceInit prepares a Reduce that can be started many times.
//
// C: MPI_Reduce_init, section 6.13.7.
func (c *Comm) ReduceInit(send, recv Buffer, op Op, root int) Request {
	return c.reduceLater(coll.Reduce, persistent, &send, &recv, op, root, nil)
}

// Allreduce is the function Allreduce for Buffers; see Comm.Reduce.
//
// C: MPI_Allreduce, section 6.9.6.
func (c *Comm) Allreduce(send, recv Buffer, op Op) error {
	return c.reduceNow(coll.Allreduce, &send, &recv, op, 0, nil)
}

// Iallreduce starts an Allreduce.
//
// C: MPI_Iallreduce, section 6.12.8.
func (c *Comm) Iallreduce(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.Allreduce, nonblocking, &send, &recv, op, 0, nil)
}

// AllreduceInit prepares an Allreduce that can be started many times.
//
// C: MPI_Allreduce_init, section 6.13.8.
func (c *Comm) AllreduceInit(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.Allreduce, persistent, &send, &recv, op, 0, nil)
}

// ReduceScatterBlock is the function ReduceScatterBlock for Buffers; see Comm.Reduce.
//
// C: MPI_Reduce_scatter_block, section 6.10.1.
func (c *Comm) ReduceScatterBlock(send, recv Buffer, op Op) error {
	return c.reduceNow(coll.ReduceScatterBlock, &send, &recv, op, 0, nil)
}

// IreduceScatterBlock starts a ReduceScatterBlock.
//
// C: MPI_Ireduce_scatter_block, section 6.12.9.
func (c *Comm) IreduceScatterBlock(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.ReduceScatterBlock, nonblocking, &send, &recv, op, 0, nil)
}

// ReduceScatterBlockInit prepares a ReduceScatterBlock that can be started many times.
//
// C: MPI_Reduce_scatter_block_init, section 6.13.9.
func (c *Comm) ReduceScatterBlockInit(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.ReduceScatterBlock, persistent, &send, &recv, op, 0, nil)
}

// ReduceScatter is the function ReduceScatter for Buffers; see Comm.Reduce. Counts are
// elements of send.
//
// C: MPI_Reduce_scatter, section 6.10.2.
func (c *Comm) ReduceScatter(send, recv Buffer, counts []int, op Op) error {
	return c.reduceNow(coll.ReduceScatter, &send, &recv, op, 0, counts)
}

// IreduceScatter starts a ReduceScatter.
//
// C: MPI_Ireduce_scatter, section 6.12.10.
func (c *Comm) IreduceScatter(send, recv Buffer, counts []int, op Op) Request {
	return c.reduceLater(coll.ReduceScatter, nonblocking, &send, &recv, op, 0, counts)
}

// ReduceScatterInit prepares a ReduceScatter that can be started many times.
//
// C: MPI_Reduce_scatter_init, section 6.13.10.
func (c *Comm) ReduceScatterInit(send, recv Buffer, counts []int, op Op) Request {
	return c.reduceLater(coll.ReduceScatter, persistent, &send, &recv, op, 0, counts)
}

// Scan is the function Scan for Buffers; see Comm.Reduce.
//
// C: MPI_Scan, section 6.11.1.
func (c *Comm) Scan(send, recv Buffer, op Op) error {
	return c.reduceNow(coll.Scan, &send, &recv, op, 0, nil)
}

// Iscan starts a Scan.
//
// C: MPI_Iscan, section 6.12.11.
func (c *Comm) Iscan(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.Scan, nonblocking, &send, &recv, op, 0, nil)
}

// ScanInit prepares a Scan that can be started many times.
//
// C: MPI_Scan_init, section 6.13.11.
func (c *Comm) ScanInit(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.Scan, persistent, &send, &recv, op, 0, nil)
}

// Exscan is the function Exscan for Buffers; see Comm.Reduce.
//
// C: MPI_Exscan, section 6.11.2.
func (c *Comm) Exscan(send, recv Buffer, op Op) error {
	return c.reduceNow(coll.Exscan, &send, &recv, op, 0, nil)
}

// Iexscan starts an Exscan.
//
// C: MPI_Iexscan, section 6.12.12.
func (c *Comm) Iexscan(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.Exscan, nonblocking, &send, &recv, op, 0, nil)
}

// ExscanInit prepares an Exscan that can be started many times.
//
// C: MPI_Exscan_init, section 6.13.12.
func (c *Comm) ExscanInit(send, recv Buffer, op Op) Request {
	return c.reduceLater(coll.Exscan, persistent, &send, &recv, op, 0, nil)
}
