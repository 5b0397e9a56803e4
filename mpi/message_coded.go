package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// Send is Send of elements of a code, whose layout in memory is the packed form.
//
// C: none; for bindings, whose programs name types in calls.
func (internals) Send(c *Comm, b []byte, code dtype.Code, dest, tag int) error {
	return c.send(call.Send, mem.Of(b), signature{code: code}, dest, tag)
}

// Recv is Recv of elements of a code.
//
// C: none; for bindings.
func (internals) Recv(c *Comm, b []byte, code dtype.Code, source, tag int) (st Status, err error) {
	err = c.recv(call.Recv, mem.Of(b), signature{code: code}, source, tag, &st)
	return st, err
}

// Isend is Isend of elements of a code.
//
// C: none; for bindings.
func (internals) Isend(c *Comm, b []byte, code dtype.Code, dest, tag int) Request {
	return c.isend(mem.Of(b), signature{code: code}, dest, tag)
}

// Irecv is Irecv of elements of a code.
//
// C: none; for bindings.
func (internals) Irecv(c *Comm, b []byte, code dtype.Code, source, tag int) Request {
	return c.irecv(mem.Of(b), signature{code: code}, source, tag)
}

// Sendrecv is Sendrecv of elements of codes.
//
// C: none; for bindings.
func (internals) Sendrecv(c *Comm, send []byte, sent dtype.Code, dest, sendTag int, recv []byte, received dtype.Code, source, recvTag int) (Status, error) {
	q := c.exchange(call.Sendrecv, mem.Of(send), signature{code: sent}, dest, sendTag, mem.Of(recv), signature{code: received}, source, recvTag)
	return q.Wait()
}
