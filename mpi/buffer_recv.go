package mpi

import "github.com/halo-mpi/halo/internal/call"

// Recv is the function Recv for a Buffer. Of a message that is too long it stores the part that
// fits. As in every call that receives, a type in which bytes of memory occur twice is ErrType.
//
// C: MPI_Recv, section 3.2.4.
func (c *Comm) Recv(b Buffer, source, tag int) (st Status, err error) {
	m, e := b.received(c)
	err = c.recv(call.Recv, m, e, source, tag, &st)
	return st, err
}

// Irecv is the function Irecv for a Buffer.
//
// C: MPI_Irecv, section 3.7.2.
func (c *Comm) Irecv(b Buffer, source, tag int) Request {
	return c.startRecv(call.Irecv, &b, source, tag)
}

// RecvInit is the function RecvInit for a Buffer.
//
// C: MPI_Recv_init, section 3.9.
func (c *Comm) RecvInit(b Buffer, source, tag int) Request {
	return c.startRecv(call.RecvInit, &b, source, tag)
}

// startRecv starts to receive into a Buffer, or makes a persistent request that does.
func (c *Comm) startRecv(k call.Number, b *Buffer, source, tag int) Request {
	m, e := b.received(c)
	return c.message(k, m, e, source, tag)
}

// Recv is the function Mrecv for a Buffer.
//
// C: MPI_Mrecv, section 3.8.3.
func (m *Message) Recv(b Buffer) (Status, error) {
	q := m.start(call.Mrecv, &b)
	return q.Wait()
}

// Irecv is the function Imrecv for a Buffer.
//
// C: MPI_Imrecv, section 3.8.3.
func (m *Message) Irecv(b Buffer) Request { return m.start(call.Imrecv, &b) }

// start receives m into b. If it fails, m has not been received and can be received again.
func (m *Message) start(k call.Number, b *Buffer) Request {
	room, e := b.received(m.c)
	return m.receive(k, room, e)
}

// Sendrecv is the function Sendrecv for Buffers.
//
// C: MPI_Sendrecv, section 3.10.
func (c *Comm) Sendrecv(send Buffer, dest, sendTag int, recv Buffer, source, recvTag int) (Status, error) {
	q := c.exchangeBuffers(call.Sendrecv, &send, dest, sendTag, &recv, source, recvTag)
	return q.Wait()
}

// Isendrecv is the function Isendrecv for Buffers.
//
// C: MPI_Isendrecv, section 3.10.
func (c *Comm) Isendrecv(send Buffer, dest, sendTag int, recv Buffer, source, recvTag int) Request {
	return c.exchangeBuffers(call.Isendrecv, &send, dest, sendTag, &recv, source, recvTag)
}

func (c *Comm) exchangeBuffers(k call.Number, send *Buffer, dest, sendTag int, recv *Buffer, source, recvTag int) Request {
	out, sent := send.sent(c)
	in, received := recv.received(c)
	return c.exchange(k, out, sent, dest, sendTag, in, received, source, recvTag)
}

// SendrecvReplace is the function SendrecvReplace for a Buffer. Until the call returns Halo
// keeps a packed copy of the data that is sent.
//
// C: MPI_Sendrecv_replace, section 3.10.
func (c *Comm) SendrecvReplace(b Buffer, dest, sendTag, source, recvTag int) (Status, error) {
	q := c.replaceBuffer(call.SendrecvReplace, &b, dest, sendTag, source, recvTag)
	return q.Wait()
}

// IsendrecvReplace is the function IsendrecvReplace for a Buffer.
//
// C: MPI_Isendrecv_replace, section 3.10.
func (c *Comm) IsendrecvReplace(b Buffer, dest, sendTag, source, recvTag int) Request {
	return c.replaceBuffer(call.IsendrecvReplace, &b, dest, sendTag, source, recvTag)
}

func (c *Comm) replaceBuffer(k call.Number, b *Buffer, dest, sendTag, source, recvTag int) Request {
	m, e := b.received(c)
	return c.replace(k, m, e, dest, sendTag, source, recvTag)
}
