package p2p

import (
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// isend and irecv are Isend and Irecv of a slice without a description of its elements.
func (e *Engine) isend(c *comm.Comm, ctx uint64, mode Mode, buf []byte, dest int, tag int32) *Request {
	return e.Isend(&Envelope{Comm: c, Ctx: ctx, Mode: mode, Peer: dest, Tag: tag}, mem.Of(buf))
}

func (e *Engine) irecv(c *comm.Comm, ctx uint64, buf []byte, source int, tag int32) *Request {
	return e.Irecv(&Envelope{Comm: c, Ctx: ctx, Peer: source, Tag: tag}, mem.Of(buf))
}

// isendOf and irecvOf are Isend and Irecv of elements whose type is known.
func (e *Engine) isendOf(c *comm.Comm, ctx uint64, mode Mode, b *dtype.Buffer, dest int, tag int32) *Request {
	return e.Isend(&Envelope{Comm: c, Ctx: ctx, Mode: mode, Peer: dest, Tag: tag, Type: b.Type(), Count: b.Count()}, mem.In(b))
}

func (e *Engine) irecvOf(c *comm.Comm, ctx uint64, b *dtype.Buffer, source int, tag int32) *Request {
	return e.Irecv(&Envelope{Comm: c, Ctx: ctx, Peer: source, Tag: tag, Type: b.Type(), Count: b.Count()}, mem.In(b))
}
