package mpi

import "github.com/halo-mpi/halo/internal/call"

// Send is the function Send for a Buffer.
//
// C: MPI_Send, section 3.2.1.
func (c *Comm) Send(b Buffer, dest, tag int) error {
	return c.sendBuffer(call.Send, &b, dest, tag)
}

// Ssend is the function Ssend for a Buffer.
//
// C: MPI_Ssend, section 3.4.
func (c *Comm) Ssend(b Buffer, dest, tag int) error {
	return c.sendBuffer(call.Ssend, &b, dest, tag)
}

// Bsend is the function Bsend for a Buffer. The attached buffer holds the packed data.
//
// C: MPI_Bsend, section 3.4.
func (c *Comm) Bsend(b Buffer, dest, tag int) error {
	return c.sendBuffer(call.Bsend, &b, dest, tag)
}

// Rsend is the function Rsend for a Buffer.
//
// C: MPI_Rsend, section 3.4.
func (c *Comm) Rsend(b Buffer, dest, tag int) error {
	return c.sendBuffer(call.Rsend, &b, dest, tag)
}

// sendBuffer sends a Buffer and waits for the completion.
func (c *Comm) sendBuffer(k call.Number, b *Buffer, dest, tag int) error {
	m, e := b.sent(c)
	return c.send(k, m, e, dest, tag)
}

// startSend starts to send a Buffer, or makes a persistent request that does.
func (c *Comm) startSend(k call.Number, b *Buffer, dest, tag int) Request {
	m, e := b.sent(c)
	return c.message(k, m, e, dest, tag)
}

// Isend is the function Isend for a Buffer.
//
// C: MPI_Isend, section 3.7.2.
func (c *Comm) Isend(b Buffer, dest, tag int) Request {
	return c.startSend(call.Isend, &b, dest, tag)
}

// Issend is the function Issend for a Buffer.
//
// C: MPI_Issend, section 3.7.2.
func (c *Comm) Issend(b Buffer, dest, tag int) Request {
	return c.startSend(call.Issend, &b, dest, tag)
}

// Ibsend is the function Ibsend for a Buffer.
//
// C: MPI_Ibsend, section 3.7.2.
func (c *Comm) Ibsend(b Buffer, dest, tag int) Request {
	return c.startSend(call.Ibsend, &b, dest, tag)
}

// Irsend is the function Irsend for a Buffer.
//
// C: MPI_Irsend, section 3.7.2.
func (c *Comm) Irsend(b Buffer, dest, tag int) Request {
	return c.startSend(call.Irsend, &b, dest, tag)
}

// SendInit is the function SendInit for a Buffer.
//
// C: MPI_Send_init, section 3.9.
func (c *Comm) SendInit(b Buffer, dest, tag int) Request {
	return c.startSend(call.SendInit, &b, dest, tag)
}

// SsendInit is the function SsendInit for a Buffer.
//
// C: MPI_Ssend_init, section 3.9.
func (c *Comm) SsendInit(b Buffer, dest, tag int) Request {
	return c.startSend(call.SsendInit, &b, dest, tag)
}

// BsendInit is the function BsendInit for a Buffer.
//
// C: MPI_Bsend_init, section 3.9.
func (c *Comm) BsendInit(b Buffer, dest, tag int) Request {
	return c.startSend(call.BsendInit, &b, dest, tag)
}

// RsendInit is the function RsendInit for a Buffer.
//
// C: MPI_Rsend_init, section 3.9.
func (c *Comm) RsendInit(b Buffer, dest, tag int) Request {
	return c.startSend(call.RsendInit, &b, dest, tag)
}
