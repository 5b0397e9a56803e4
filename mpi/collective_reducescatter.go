package mpi

import "github.com/halo-mpi/halo/internal/coll"

// ReduceScatterBlock combines the send slices of all members element by element
// and leaves the r-th of c.Size() equal blocks of the result in recv of rank r,
// which is at least that long. In place: recv is the beginning of send.
//
// C: MPI_Reduce_scatter_block, section 6.10.1.
func ReduceScatterBlock[T Elem](c *Comm, send, recv []T, op Op) error {
	a := reduceScatterBlockArgs(send, recv, op)
	return c.do(coll.ReduceScatterBlock, &a)
}

// IreduceScatterBlock starts a ReduceScatterBlock.
//
// C: MPI_Ireduce_scatter_block, section 6.12.9.
func IreduceScatterBlock[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := reduceScatterBlockArgs(send, recv, op)
	return c.start(coll.ReduceScatterBlock, &a)
}

// ReduceScatterBlockInit prepares a ReduceScatterBlock that can be started many times.
//
// C: MPI_Reduce_scatter_block_init, section 6.13.9.
func ReduceScatterBlockInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := reduceScatterBlockArgs(send, recv, op)
	return c.prepare(coll.ReduceScatterBlock, &a)
}

func reduceScatterBlockArgs[T Elem](send, recv []T, op Op) coll.Args {
	return reduction(send, recv, op)
}

// ReduceScatter combines the send slices of all members element by element and
// deals the result out in blocks: rank r gets counts[r] elements, behind those
// of the ranks below, in recv, which is at least that long. All members pass the
// same counts, which add up to len(send). In place: recv is the beginning of
// send.
//
// A nonblocking or persistent one reads counts until it has ended.
//
// C: MPI_Reduce_scatter, section 6.10.2.
func ReduceScatter[T Elem](c *Comm, send, recv []T, counts []int, op Op) error {
	a := reduceScatterArgs(send, recv, counts, op)
	return c.do(coll.ReduceScatter, &a)
}

// IreduceScatter starts a ReduceScatter.
//
// C: MPI_Ireduce_scatter, section 6.12.10.
func IreduceScatter[T Elem](c *Comm, send, recv []T, counts []int, op Op) Request {
	a := reduceScatterArgs(send, recv, counts, op)
	return c.start(coll.ReduceScatter, &a)
}

// ReduceScatterInit prepares a ReduceScatter that can be started many times.
//
// C: MPI_Reduce_scatter_init, section 6.13.10.
func ReduceScatterInit[T Elem](c *Comm, send, recv []T, counts []int, op Op) Request {
	a := reduceScatterArgs(send, recv, counts, op)
	return c.prepare(coll.ReduceScatter, &a)
}

func reduceScatterArgs[T Elem](send, recv []T, counts []int, op Op) coll.Args {
	a := reduction(send, recv, op)
	a.SendCounts = counts
	return a
}
