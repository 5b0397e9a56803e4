package mpi

import "github.com/halo-mpi/halo/internal/coll"

// Reduce combines the send slices of all members element by element and leaves
// the result in recv at rank root; elsewhere recv is not looked at. In place: at
// the root send and recv are the same slice. All send slices have the same
// length, and recv at the root at least that.
//
// C: MPI_Reduce, section 6.9.1.
func Reduce[T Elem](c *Comm, send, recv []T, op Op, root int) error {
	if op.user != nil {
		a := reduceArgs(send, recv, op, root)
		return c.do(coll.Reduce, &a)
	}
	if err := c.usable(collectiveCall(coll.Reduce, blocking)); err != nil {
		return err
	}
	return c.done(coll.Reduce, c.w.Coll.Reduce(c.core, memory(send), memory(recv), op.kernel.On(opType[T]()), opType[T](), elementCode[T](), root))
}

// Ireduce starts a Reduce.
//
// C: MPI_Ireduce, section 6.12.7.
func Ireduce[T Elem](c *Comm, send, recv []T, op Op, root int) Request {
	a := reduceArgs(send, recv, op, root)
	return c.start(coll.Reduce, &a)
}

// ReduceInit prepares a Reduce that can be started many times.
//
// C: MPI_Reduce_init, section 6.13.7.
func ReduceInit[T Elem](c *Comm, send, recv []T, op Op, root int) Request {
	a := reduceArgs(send, recv, op, root)
	return c.prepare(coll.Reduce, &a)
}

func reduceArgs[T Elem](send, recv []T, op Op, root int) coll.Args {
	a := reduction(send, recv, op)
	a.Root = root
	return a
}

// Allreduce combines the send slices of all members element by element and
// leaves the result, bitwise the same, in recv of all. In place: send and recv
// are the same slice. All send slices have the same length, and recv at least
// that.
//
// C: MPI_Allreduce, section 6.9.6.
func Allreduce[T Elem](c *Comm, send, recv []T, op Op) error {
	if op.user != nil {
		a := allreduceArgs(send, recv, op)
		return c.do(coll.Allreduce, &a)
	}
	if err := c.usable(collectiveCall(coll.Allreduce, blocking)); err != nil {
		return err
	}
	return c.done(coll.Allreduce, c.w.Coll.Allreduce(c.core, memory(send), memory(recv), op.kernel.On(opType[T]()), opType[T](), elementCode[T]()))
}

// Iallreduce starts an Allreduce.
//
// C: MPI_Iallreduce, section 6.12.8.
func Iallreduce[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := allreduceArgs(send, recv, op)
	return c.start(coll.Allreduce, &a)
}

// AllreduceInit prepares an Allreduce that can be started many times.
//
// C: MPI_Allreduce_init, section 6.13.8.
func AllreduceInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	a := allreduceArgs(send, recv, op)
	return c.prepare(coll.Allreduce, &a)
}

func allreduceArgs[T Elem](send, recv []T, op Op) coll.Args {
	return reduction(send, recv, op)
}
