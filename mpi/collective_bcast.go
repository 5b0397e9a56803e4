package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Barrier returns when all members of c have called it.
//
// C: MPI_Barrier, section 6.3.
func (c *Comm) Barrier() error {
	if err := c.usable(call.Barrier); err != nil {
		return err
	}
	return c.done(coll.Barrier, c.w.Coll.Barrier(c.core))
}

// Ibarrier starts a Barrier: the request is complete when all members have
// started theirs.
//
// C: MPI_Ibarrier, section 6.12.1.
func (c *Comm) Ibarrier() Request { return c.start(coll.Barrier, coll.Args{}) }

// BarrierInit prepares a Barrier that can be started many times.
//
// C: MPI_Barrier_init, section 6.13.1.
func (c *Comm) BarrierInit() Request { return c.prepare(coll.Barrier, coll.Args{}) }

// Bcast copies buf from rank root to all members of c, which pass buffers of the same length.
//
// C: MPI_Bcast, section 6.4.
func Bcast[T any](c *Comm, buf []T, root int) error {
	if isNumber[T]() && !c.checks() {
		return bcast(c, memory(buf), elementCode[T](), root)
	}
	return bcastChecked(c, buf, root)
}

// bcastChecked is Bcast in checking mode, or for elements that may have gaps. It is not inlined:
// otherwise Bcast would have to clear the stack space of its arguments.
//
//go:noinline
func bcastChecked[T any](c *Comm, buf []T, root int) error {
	return c.do(coll.Bcast, sliceArgs(nil, buf).WithRoot(root))
}

func bcast(c *Comm, buf []byte, code dtype.Code, root int) error {
	if err := c.usable(call.Bcast); err != nil {
		return err
	}
	return c.done(coll.Bcast, c.w.Coll.Bcast(c.core, buf, code, root))
}

// Ibcast starts a Bcast.
//
// C: MPI_Ibcast, section 6.12.2.
func Ibcast[T any](c *Comm, buf []T, root int) Request {
	return c.start(coll.Bcast, sliceArgs(nil, buf).WithRoot(root))
}

// BcastInit prepares a Bcast that can be started many times.
//
// C: MPI_Bcast_init, section 6.13.2.
func BcastInit[T any](c *Comm, buf []T, root int) Request {
	return c.prepare(coll.Bcast, sliceArgs(nil, buf).WithRoot(root))
}

// Bcast copies b from rank root to all members of c, which pass Buffers of the same size in
// bytes.
//
// C: MPI_Bcast, section 6.4.
func (c *Comm) Bcast(b Buffer, root int) error {
	if bytes, ok := b.b.Contiguous(); ok && b.err == nil && !c.checks() {
		return bcast(c, bytes, b.b.Code(), root)
	}
	return c.do(coll.Bcast, bufferArgs(nil, &b).WithRoot(root))
}

// Ibcast starts a Bcast.
//
// C: MPI_Ibcast, section 6.12.2.
func (c *Comm) Ibcast(b Buffer, root int) Request {
	return c.start(coll.Bcast, bufferArgs(nil, &b).WithRoot(root))
}

// BcastInit prepares a Bcast that can be started many times.
//
// C: MPI_Bcast_init, section 6.13.2.
func (c *Comm) BcastInit(b Buffer, root int) Request {
	return c.prepare(coll.Bcast, bufferArgs(nil, &b).WithRoot(root))
}
