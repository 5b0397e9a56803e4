package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// What members must agree on (the kind, the root, lengths, the operation) is not
// compared beforehand, but with HALO_CHECK=1; lengths that disagree are ErrTruncate
// or ErrCount where it shows. When a member dies, all of a communicator's collectives end with
// ErrProcFailed.

// Collectives on Buffers are methods of Comm, named as the functions for slices. Each
// member gives Buffers of its own: what has to agree between them is the sequence of
// basic types, of which some may lie in slices. A block is a number of elements of the
// Buffer, one behind the other by their extents, and counts and displacements are in
// elements; all blocks lie within the Buffer.
//
// In place, the one Buffer is of the same type and begins where the own block of the
// other does. Otherwise what is received must not overlap what is sent.

// The forms of a collective.
const (
	blocking    = coll.Blocking
	nonblocking = coll.Nonblocking
	persistent  = coll.Persistent
)

// collectiveCall is the call of a kind and form.
func collectiveCall(k coll.Kind, f coll.Form) call {
	return callCollective + call(k)*call(coll.Forms) + call(f)
}

// occupant is what a collective call, or an Idup, is to package coll.
func (k call) occupant() coll.Call {
	if k < callCollective {
		return coll.CallIdup
	}
	k -= callCollective
	return coll.CallOf(coll.Kind(k/call(coll.Forms)), coll.Form(k%call(coll.Forms)))
}

// collective is the name of a collective call.
func (k call) collective() string { return k.occupant().String() }

// sliceArgs is what a member gives to a collective, and gets from it, as slices of plain data.
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

// bufferArgs is what a member gives to a collective, and gets from it, as Buffers. One that the kind
// does not have is nil.
func bufferArgs(send, recv *Buffer) (a coll.Args) {
	if send != nil {
		a.Send = send.side()
	}
	a.Recv = recv.side()
	return a
}

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

// do carries out a collective.
func (c *Comm) do(k coll.Kind, a coll.Args) error {
	if err := c.usable(collectiveCall(k, blocking)); err != nil {
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
	return wrap(err, collectiveCall(k, blocking), c, Undefined, Undefined)
}

// start starts a nonblocking collective.
func (c *Comm) start(k coll.Kind, a coll.Args) Request { return c.request(k, nonblocking, &a) }

// prepare makes a persistent collective.
func (c *Comm) prepare(k coll.Kind, a coll.Args) Request { return c.request(k, persistent, &a) }

// request returns the request of a collective that does not block.
func (c *Comm) request(k coll.Kind, f coll.Form, a *coll.Args) Request {
	name := collectiveCall(k, f)
	if err := c.usable(name); err != nil {
		return Request{err: err}
	}
	c.typeArgs(a)
	c.callArgs(name, a)
	return c.launch(name, func(e *coll.Engine) (*p2p.Request, error) { return e.Start(c.core, k, f, a) })
}

// launch returns the request that start makes under the lock. c is usable.
func (c *Comm) launch(name call, start func(e *coll.Engine) (*p2p.Request, error)) Request {
	e, p := c.w.Coll, c.w.P2P.Proc()
	if err := e.Enter(c.core, name.occupant()); err != nil {
		return Request{err: describe(err, name, c, Undefined, Undefined).raised()}
	}
	p.Lock()
	r, err := start(e)
	if err != nil {
		p.Unlock()
		e.Leave(c.core)
		return Request{err: describe(err, name, c, Undefined, Undefined).raised()}
	}
	q := watched(newRequest(name, c, r))
	p.Unlock()
	e.Leave(c.core)
	return q
}
