package mpi

import "github.com/halo-mpi/halo/internal/p2p"

// Send is the function Send for a Buffer.
//
// C: MPI_Send, section 3.2.1.
func (c *Comm) Send(b Buffer, dest, tag int) error {
	return c.sendBuffer(callSend, p2p.Standard, &b, dest, tag)
}

// Ssend is the function Ssend for a Buffer.
//
// C: MPI_Ssend, section 3.4.
func (c *Comm) Ssend(b Buffer, dest, tag int) error {
	return c.sendBuffer(callSsend, p2p.Synchronous, &b, dest, tag)
}

// Bsend is the function Bsend for a Buffer: the attached buffer holds it packed.
//
// C: MPI_Bsend, section 3.4.
func (c *Comm) Bsend(b Buffer, dest, tag int) error {
	return c.sendBuffer(callBsend, p2p.Buffered, &b, dest, tag)
}

// Rsend is the function Rsend for a Buffer.
//
// C: MPI_Rsend, section 3.4.
func (c *Comm) Rsend(b Buffer, dest, tag int) error {
	return c.sendBuffer(callRsend, p2p.Standard, &b, dest, tag)
}

func (c *Comm) sendBuffer(k call, mode p2p.Mode, b *Buffer, dest, tag int) error {
	m, of, err := b.sent(k, c, dest, tag)
	if err != nil {
		return err
	}
	if bytes, ok := m.Bytes(); ok && of == nil {
		return sendRow(k, mode, c, bytes, b.b.Code(), dest, tag)
	}
	q := isend(k, mode, c, m, of, b.b.Code(), dest, tag)
	_, failed := q.Wait()
	return failed
}

// Isend is the function Isend for a Buffer.
//
// C: MPI_Isend, section 3.7.2.
func (c *Comm) Isend(b Buffer, dest, tag int) Request {
	return c.isendBuffer(callIsend, p2p.Standard, &b, dest, tag)
}

// Issend is the function Issend for a Buffer.
//
// C: MPI_Issend, section 3.7.2.
func (c *Comm) Issend(b Buffer, dest, tag int) Request {
	return c.isendBuffer(callIssend, p2p.Synchronous, &b, dest, tag)
}

// Ibsend is the function Ibsend for a Buffer.
//
// C: MPI_Ibsend, section 3.7.2.
func (c *Comm) Ibsend(b Buffer, dest, tag int) Request {
	return c.isendBuffer(callIbsend, p2p.Buffered, &b, dest, tag)
}

// Irsend is the function Irsend for a Buffer.
//
// C: MPI_Irsend, section 3.7.2.
func (c *Comm) Irsend(b Buffer, dest, tag int) Request {
	return c.isendBuffer(callIrsend, p2p.Standard, &b, dest, tag)
}

// SendInit is the function SendInit for a Buffer.
//
// C: MPI_Send_init, section 3.9.
func (c *Comm) SendInit(b Buffer, dest, tag int) Request {
	return c.sendInitBuffer(callSendInit, p2p.Standard, &b, dest, tag)
}

// SsendInit is the function SsendInit for a Buffer.
//
// C: MPI_Ssend_init, section 3.9.
func (c *Comm) SsendInit(b Buffer, dest, tag int) Request {
	return c.sendInitBuffer(callSsendInit, p2p.Synchronous, &b, dest, tag)
}

// BsendInit is the function BsendInit for a Buffer.
//
// C: MPI_Bsend_init, section 3.9.
func (c *Comm) BsendInit(b Buffer, dest, tag int) Request {
	return c.sendInitBuffer(callBsendInit, p2p.Buffered, &b, dest, tag)
}

// RsendInit is the function RsendInit for a Buffer.
//
// C: MPI_Rsend_init, section 3.9.
func (c *Comm) RsendInit(b Buffer, dest, tag int) Request {
	return c.sendInitBuffer(callRsendInit, p2p.Standard, &b, dest, tag)
}

// isendBuffer and sendInitBuffer are two, since an argument of a function that is
// chosen at run time would be moved to the heap.
func (c *Comm) isendBuffer(k call, mode p2p.Mode, b *Buffer, dest, tag int) Request {
	m, of, err := b.sent(k, c, dest, tag)
	if err != nil {
		return Request{err: err}
	}
	return isend(k, mode, c, m, of, b.b.Code(), dest, tag)
}

func (c *Comm) sendInitBuffer(k call, mode p2p.Mode, b *Buffer, dest, tag int) Request {
	m, of, err := b.sent(k, c, dest, tag)
	if err != nil {
		return Request{err: err}
	}
	return sendInit(k, mode, c, m, of, b.b.Code(), dest, tag)
}
