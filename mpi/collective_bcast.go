package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/dtype"
)

// Barrier returns when all members of c have called it.
//
// C: MPI_Barrier, section 6.3.
func (c *Comm) Barrier() error {
	if err := c.usable(collectiveCall(coll.Barrier, blocking)); err != nil {
		return err
	}
	return c.done(coll.Barrier, c.w.Coll.Barrier(c.core))
}

// Ibarrier starts a Barrier: the request is complete when all members have
// started theirs.
//
// C: MPI_Ibarrier, section 6.12.1.
func (c *Comm) Ibarrier() Request { return c.start(coll.Barrier, &coll.Args{}) }

// BarrierInit prepares a Barrier that can be started many times.
//
// C: MPI_Barrier_init, section 6.13.1.
func (c *Comm) BarrierInit() Request { return c.prepare(coll.Barrier, &coll.Args{}) }

// Bcast copies buf from rank root to all members of c, who pass buffers of the
// same length.
//
// C: MPI_Bcast, section 6.4.
func Bcast[T Elem](c *Comm, buf []T, root int) error {
	if c.checks() {
		a := bcastArgs(buf, root)
		return c.do(coll.Bcast, &a)
	}
	return bcast(c, bytesOf(buf), elementCode[T](), root)
}

func bcast(c *Comm, buf []byte, code dtype.Code, root int) error {
	if err := c.usable(collectiveCall(coll.Bcast, blocking)); err != nil {
		return err
	}
	return c.done(coll.Bcast, c.w.Coll.Bcast(c.core, buf, code, root))
}

// Ibcast starts a Bcast.
//
// C: MPI_Ibcast, section 6.12.2.
func Ibcast[T Elem](c *Comm, buf []T, root int) Request {
	a := bcastArgs(buf, root)
	return c.start(coll.Bcast, &a)
}

// BcastInit prepares a Bcast that can be started many times.
//
// C: MPI_Bcast_init, section 6.13.2.
func BcastInit[T Elem](c *Comm, buf []T, root int) Request {
	a := bcastArgs(buf, root)
	return c.prepare(coll.Bcast, &a)
}

func bcastArgs[T Elem](buf []T, root int) coll.Args {
	return coll.Args{Recv: side(buf), Width: sizeOf[T](), Elem: reflect.TypeFor[T](), Root: root}
}
