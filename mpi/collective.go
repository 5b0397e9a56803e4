package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Members must agree on the kind, the root, the lengths and the operation of a collective. Halo
// compares these beforehand only with HALO_CHECK=1; otherwise lengths that differ are
// ErrTruncate or ErrCount at the members that can detect it. When a member dies, all collectives
// of the communicator end with ErrProcFailed.

// Collectives on Buffers are methods of Comm, with the names of the functions for slices. Each
// member may use different Buffers; only the sequences of basic types must agree, and some
// members may use slices. A block is a number of elements of the Buffer, each one extent after
// the one before. Counts and displacements are in elements. All blocks lie within the Buffer.
//
// To work in place, a member passes two Buffers of the same type, one of which begins where its
// own block of the other begins. Otherwise the receive Buffer must not overlap the send Buffer.

// The forms of a collective.
const (
	blocking    = coll.Blocking
	nonblocking = coll.Nonblocking
	persistent  = coll.Persistent
)

// sliceArgs makes the arguments of a collective from slices of plain data.
func sliceArgs[T any](send, recv []T) (a coll.Args) {
	if isNumber[T]() {
		code := elementCode[T]()
		a.Send, a.Recv = coll.Slice(memory(send), code), coll.Slice(memory(recv), code)
		a.Width, a.Elem = sizeOf[T](), reflect.TypeFor[T]()
		return a
	}
	from, to := Buf(send), Buf(recv)
	a.Send, a.Recv = from.side(), to.side()
	return a
}

// bufferArgs makes the arguments of a collective from Buffers. A Buffer is nil if the kind of
// collective does not have it.
func bufferArgs(send, recv *Buffer) (a coll.Args) {
	if send != nil {
		a.Send = send.side()
	}
	a.Recv = recv.side()
	return a
}

// side describes a Buffer to package coll.
func (b *Buffer) side() coll.Side {
	if b.err != nil {
		return coll.Side{Mem: mem.Wrong(b.err)}
	}
	return coll.Elements(&b.b)
}

// wrongBuffer returns the error of one of two Buffers, if any. A Buffer that is not significant
// may be nil.
func wrongBuffer(send, recv *Buffer) error {
	if send != nil && send.err != nil {
		return send.err
	}
	if recv != nil {
		return recv.err
	}
	return nil
}

// do carries out a collective.
func (c *Comm) do(k coll.Kind, a coll.Args) error {
	if err := c.usable(k.Number()); err != nil {
		return err
	}
	return c.carryOut(k, &a)
}

// carryOut carries out a collective on c, which is usable.
func (c *Comm) carryOut(k coll.Kind, a *coll.Args) error {
	c.typeArgs(a)
	return c.done(k, c.w.Coll.Do(c.core, k, a))
}

// done returns the error of a blocking collective.
func (c *Comm) done(k coll.Kind, err error) error {
	if err == nil {
		return nil
	}
	return wrap(err, k.Number(), c, Undefined, Undefined)
}

// start starts a nonblocking collective.
func (c *Comm) start(k coll.Kind, a coll.Args) Request { return c.request(k, nonblocking, &a) }

// prepare makes a persistent collective.
func (c *Comm) prepare(k coll.Kind, a coll.Args) Request { return c.request(k, persistent, &a) }

// request returns the request of a collective that does not block.
func (c *Comm) request(k coll.Kind, f coll.Form, a *coll.Args) Request {
	by := k.In(f)
	if err := c.usable(by); err != nil {
		return Request{err: err}
	}
	c.typeArgs(a)
	c.callArgs(by, a)
	return c.launch(by, func(e *coll.Engine) (*p2p.Request, error) { return e.Start(c.core, k, f, a) })
}

// launch returns the request that start makes under the lock. c is usable.
func (c *Comm) launch(by call.Number, start func(e *coll.Engine) (*p2p.Request, error)) Request {
	e, p := c.w.Coll, c.w.P2P.Proc()
	if err := e.Enter(c.core, by); err != nil {
		return Request{err: describe(err, by, c, Undefined, Undefined).raised()}
	}
	p.Lock()
	r, err := start(e)
	if err != nil {
		p.Unlock()
		e.Leave(c.core)
		return Request{err: describe(err, by, c, Undefined, Undefined).raised()}
	}
	q := watched(newRequest(by, c, r))
	p.Unlock()
	e.Leave(c.core)
	return q
}
