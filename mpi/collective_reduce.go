package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
)

// Reduce combines the send slices of all members element by element and stores the result in
// recv at rank root; other members' recv is ignored. All send slices have the same length, and
// recv of the root is at least as long. In place: at the root send and recv are the same slice.
//
// C: MPI_Reduce, section 6.9.1.
func Reduce[T Elem](c *Comm, send, recv []T, op Op, root int) error {
	t := opType[T]()
	if !op.kernel.DefinedOn(t) {
		return c.do(coll.Reduce, reduction(send, recv, op).WithRoot(root))
	}
	if err := c.usable(call.Reduce); err != nil {
		return err
	}
	return c.done(coll.Reduce, c.w.Coll.Reduce(c.core, memory(send), memory(recv), op.kernel.On(t), t, elementCode[T](), root))
}

// Reduce is the function Reduce for memory with elements of a type on which o is defined.
func (*internals) Reduce(c *Comm, send, recv []byte, o Op, t op.Type, code dtype.Code, root int) error {
	if err := c.usable(call.Reduce); err != nil {
		return err
	}
	return c.done(coll.Reduce, c.w.Coll.Reduce(c.core, send, recv, o.kernel.On(t), t, code, root))
}

// Ireduce starts a Reduce.
//
// C: MPI_Ireduce, section 6.12.7.
func Ireduce[T Elem](c *Comm, send, recv []T, op Op, root int) Request {
	return c.start(coll.Reduce, reduction(send, recv, op).WithRoot(root))
}

// ReduceInit prepares a Reduce that can be started many times.
//
// C: MPI_Reduce_init, section 6.13.7.
func ReduceInit[T Elem](c *Comm, send, recv []T, op Op, root int) Request {
	return c.prepare(coll.Reduce, reduction(send, recv, op).WithRoot(root))
}

// Allreduce combines the send slices of all members element by element and stores the result,
// with identical bits, in recv of every member. All send slices have the same length, and recv
// is at least as long. In place: send and recv are the same slice.
//
// C: MPI_Allreduce, section 6.9.6.
func Allreduce[T Elem](c *Comm, send, recv []T, op Op) error {
	t := opType[T]()
	if !op.kernel.DefinedOn(t) {
		return c.do(coll.Allreduce, reduction(send, recv, op))
	}
	if err := c.usable(call.Allreduce); err != nil {
		return err
	}
	return c.done(coll.Allreduce, c.w.Coll.Allreduce(c.core, memory(send), memory(recv), op.kernel.On(t), t, elementCode[T]()))
}

// Allreduce is the function Allreduce for memory with elements of a type on which o is defined.
func (*internals) Allreduce(c *Comm, send, recv []byte, o Op, t op.Type, code dtype.Code) error {
	if err := c.usable(call.Allreduce); err != nil {
		return err
	}
	return c.done(coll.Allreduce, c.w.Coll.Allreduce(c.core, send, recv, o.kernel.On(t), t, code))
}

// Operand is the type that elements of a predefined datatype have for predefined operations, or
// 0 if none is defined on them; and the code of the elements in a program in another language.
func (*internals) Operand(d Datatype) (op.Type, dtype.Code) {
	return op.For(d.h.t), d.h.t.Code().Loose()
}

// DefinedOn reports whether a reduction with o is defined on elements of a predefined datatype.
func (*internals) DefinedOn(o Op, d Datatype) bool { return o.kernel.Reduces(d.h.t) != 0 }

// Iallreduce starts an Allreduce.
//
// C: MPI_Iallreduce, section 6.12.8.
func Iallreduce[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.start(coll.Allreduce, reduction(send, recv, op))
}

// AllreduceInit prepares an Allreduce that can be started many times.
//
// C: MPI_Allreduce_init, section 6.13.8.
func AllreduceInit[T Elem](c *Comm, send, recv []T, op Op) Request {
	return c.prepare(coll.Allreduce, reduction(send, recv, op))
}

// Reduce is the function Reduce for Buffers: elements of the Buffers take the place of elements
// of the slices.
//
// Elements of send and recv must have the same basic types, at all members, or else the error is
// ErrType; their layouts may differ. Memory in gaps between them is not changed. A predefined
// operation needs elements that are a basic type or a predefined pair; other types are ErrOp. The
// memory must contain the padding of a pair, which is not changed either, nor are the last six
// bytes of an MPI_LONG_DOUBLE on amd64. An operation of CreateOpFunc accepts every type.
//
// C: MPI_Reduce, section 6.9.1.
func (c *Comm) Reduce(send, recv Buffer, op Op, root int) error {
	return c.reduce(coll.Reduce, c.operands(coll.Reduce, &send, &recv, op, root))
}

// Ireduce starts a Reduce.
//
// C: MPI_Ireduce, section 6.12.7.
func (c *Comm) Ireduce(send, recv Buffer, op Op, root int) Request {
	return c.start(coll.Reduce, c.operands(coll.Reduce, &send, &recv, op, root))
}

// ReduceInit prepares a Reduce that can be started many times.
//
// C: MPI_Reduce_init, section 6.13.7.
func (c *Comm) ReduceInit(send, recv Buffer, op Op, root int) Request {
	return c.prepare(coll.Reduce, c.operands(coll.Reduce, &send, &recv, op, root))
}

// Allreduce is the function Allreduce for Buffers; see Comm.Reduce.
//
// C: MPI_Allreduce, section 6.9.6.
func (c *Comm) Allreduce(send, recv Buffer, op Op) error {
	return c.reduce(coll.Allreduce, c.operands(coll.Allreduce, &send, &recv, op, 0))
}

// Iallreduce starts an Allreduce.
//
// C: MPI_Iallreduce, section 6.12.8.
func (c *Comm) Iallreduce(send, recv Buffer, op Op) Request {
	return c.start(coll.Allreduce, c.operands(coll.Allreduce, &send, &recv, op, 0))
}

// AllreduceInit prepares an Allreduce that can be started many times.
//
// C: MPI_Allreduce_init, section 6.13.8.
func (c *Comm) AllreduceInit(send, recv Buffer, op Op) Request {
	return c.prepare(coll.Allreduce, c.operands(coll.Allreduce, &send, &recv, op, 0))
}
