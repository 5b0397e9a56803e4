package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/p2p"
)

// BsendOverhead is an upper bound, in bytes, of the space that a message in buffered mode takes
// in an attached buffer in addition to its payload.
//
// C: MPI_BSEND_OVERHEAD, section 3.6.
const BsendOverhead = 512

// BufferAttach gives the process of c a buffer for messages in buffered mode, of len(buf) bytes,
// or of unlimited size if buf is nil (MPI_BUFFER_AUTOMATIC). A buffer attached to the
// communicator (Comm.AttachBuffer) takes precedence. Only the process matters, not which
// communicator c is. Halo counts the bytes but stores the copies elsewhere: it never writes to
// buf, which the program nevertheless must not use until it is detached.
//
// C: MPI_Buffer_attach, section 3.6.
func BufferAttach(c *Comm, buf []byte) error { return attach(call.BufferAttach, c, false, buf) }

// BufferDetach waits until all messages in the buffer of the process are sent, and then detaches
// and returns the buffer.
//
// C: MPI_Buffer_detach, section 3.6.
func BufferDetach(c *Comm) ([]byte, error) { return detach(call.BufferDetach, c, false) }

// BufferFlush waits until all messages in the buffer of the process are sent.
//
// C: MPI_Buffer_flush, section 3.6.
func BufferFlush(c *Comm) error {
	r := flush(call.BufferFlush, c, false)
	_, err := r.Wait()
	return err
}

// IbufferFlush starts a BufferFlush.
//
// C: MPI_Buffer_iflush, section 3.6.
func IbufferFlush(c *Comm) Request { return flush(call.BufferIflush, c, false) }

// AttachBuffer gives the communicator a buffer for messages in buffered mode, of len(buf) bytes,
// or of unlimited size if buf is nil (MPI_BUFFER_AUTOMATIC).
//
// C: MPI_Comm_attach_buffer, section 3.6.
func (c *Comm) AttachBuffer(buf []byte) error { return attach(call.CommAttachBuffer, c, true, buf) }

// DetachBuffer waits until all messages in the communicator's buffer are sent, and then detaches
// and returns the buffer.
//
// C: MPI_Comm_detach_buffer, section 3.6.
func (c *Comm) DetachBuffer() ([]byte, error) { return detach(call.CommDetachBuffer, c, true) }

// FlushBuffer waits until all messages in the communicator's buffer are sent.
//
// C: MPI_Comm_flush_buffer, section 3.6.
func (c *Comm) FlushBuffer() error {
	r := flush(call.CommFlushBuffer, c, true)
	_, err := r.Wait()
	return err
}

// IflushBuffer starts a FlushBuffer.
//
// C: MPI_Comm_iflush_buffer, section 3.6.
func (c *Comm) IflushBuffer() Request { return flush(call.CommIflushBuffer, c, true) }

// bufferContext is the context by which the engine knows a buffer: that of c if own, else that
// of the process.
func bufferContext(c *Comm, own bool) uint64 {
	if own {
		return c.core.Ctx
	}
	return p2p.ProcessBuffer
}

func attach(k call.Number, c *Comm, own bool, buf []byte) error {
	if err := c.usable(k); err != nil {
		return err
	}
	if err := c.w.P2P.Attach(bufferContext(c, own), buf); err != nil {
		return wrap(err, k, c, Undefined, Undefined)
	}
	return nil
}

func detach(k call.Number, c *Comm, own bool) ([]byte, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	buf, err := c.w.P2P.Detach(bufferContext(c, own))
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	return buf, nil
}

func flush(k call.Number, c *Comm, own bool) Request {
	if err := c.usable(k); err != nil {
		return Request{err: err}
	}
	e := c.w.P2P
	e.Proc().Lock()
	defer e.Proc().Unlock()
	return watched(newRequest(k, c, e.Flush(c.core, bufferContext(c, own))))
}
