package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/mem"
)

// Collectives on Buffers are methods of Comm, named as the functions for slices. Each
// member gives Buffers of its own: what has to agree between them is the sequence of
// basic types, of which some may lie in slices. A block is a number of elements of the
// Buffer, one behind the other by their extents, and counts and displacements are in
// elements; all blocks lie within the Buffer.
//
// In place, the one Buffer is of the same type and begins where the own block of the
// other does. Otherwise what is received must not overlap what is sent.

// side is what a Buffer is to a collective.
func (b *Buffer) side() coll.Side {
	if b.err != nil {
		return coll.Side{Mem: mem.Wrong(b.err)}
	}
	return coll.Elements(&b.b)
}

// wrongBuffer is what is wrong with one of two Buffers, of which that may be nil which does not
// count.
func wrongBuffer(send, recv *Buffer) error {
	if send != nil && send.err != nil {
		return send.err
	}
	if recv != nil {
		return recv.err
	}
	return nil
}

// doBuffers carries out a collective on Buffers.
func (c *Comm) doBuffers(k coll.Kind, a *coll.Args, send, recv *Buffer) error {
	a.Send, a.Recv = send.side(), recv.side()
	return c.do(k, a)
}

// requestBuffers is request for Buffers.
func (c *Comm) requestBuffers(k coll.Kind, f form, a *coll.Args, send, recv *Buffer) Request {
	a.Send, a.Recv = send.side(), recv.side()
	return c.request(k, f, a)
}

// Bcast copies b from rank root to all members of c, who pass Buffers of the same
// size in bytes.
//
// C: MPI_Bcast, section 6.4.
func (c *Comm) Bcast(b Buffer, root int) error {
	if bytes, ok := b.b.Contiguous(); ok && b.err == nil && !c.checks() {
		return bcast(c, bytes, b.b.Code(), root)
	}
	return c.doBuffers(coll.Bcast, &coll.Args{Root: root}, &Buffer{}, &b)
}

// Ibcast starts a Bcast.
//
// C: MPI_Ibcast, section 6.12.2.
func (c *Comm) Ibcast(b Buffer, root int) Request {
	return c.requestBuffers(coll.Bcast, nonblocking, &coll.Args{Root: root}, &Buffer{}, &b)
}

// BcastInit prepares a Bcast that can be started many times.
//
// C: MPI_Bcast_init, section 6.13.2.
func (c *Comm) BcastInit(b Buffer, root int) Request {
	return c.requestBuffers(coll.Bcast, persistent, &coll.Args{Root: root}, &Buffer{}, &b)
}
