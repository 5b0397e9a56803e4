package mpi

import (
	"reflect"

	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/p2p"
)

// What members must agree on (the kind, the root, lengths, the operation) is not
// compared beforehand, but with HALO_CHECK=1; lengths that disagree are ErrTruncate
// or ErrCount where it shows. When a member dies, all of a communicator's collectives end with
// ErrProcFailed.

// form is one of the three forms of a collective.
type form uint8

const (
	blocking form = iota
	nonblocking
	persistent
	forms
)

// collectiveCall is the call of that kind and form: the calls of a kind follow one another.
func collectiveCall(k coll.Kind, f form) call {
	return callCollective + call(k)*call(forms) + call(f)
}

// collective is the name of a collective call.
func (k call) collective() string {
	k -= callCollective
	name := coll.Kind(k / call(forms)).String()
	switch form(k % call(forms)) {
	case nonblocking:
		return "I" + string(name[0]|0x20) + name[1:]
	case persistent:
		return name + "Init"
	}
	return name
}

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

// do carries out a collective.
func (c *Comm) do(k coll.Kind, a *coll.Args) error {
	if err := c.usable(collectiveCall(k, blocking)); err != nil {
		return err
	}
	return c.carryOut(k, a)
}

// carryOut carries out a collective on c, which is usable.
func (c *Comm) carryOut(k coll.Kind, a *coll.Args) error {
	if err := c.checkSides(k, a); err != nil {
		return c.done(k, c.w.Coll.Refuse(c.core, k, err))
	}
	c.typeArgs(a)
	return c.done(k, c.w.Coll.Do(c.core, k, a))
}

// checkSides removes from a the arguments that are not significant at the caller, and returns what
// is wrong with the others.
func (c *Comm) checkSides(k coll.Kind, a *coll.Args) error {
	sends, receives := c.significant(k, a.Root)
	if !sends {
		a.Send = coll.Side{}
	}
	if !receives {
		a.Recv = coll.Side{}
	}
	if err := a.Send.Err(); err != nil {
		return err
	}
	return a.Recv.Err()
}

// significant returns which of the two memory arguments of a collective are significant at the
// caller.
func (c *Comm) significant(k coll.Kind, root int) (sends, receives bool) {
	if c.core.Inter != nil {
		return significantBetween(k, root)
	}
	switch k {
	case coll.Gather, coll.Gatherv, coll.Reduce:
		return true, c.Rank() == root
	case coll.Scatter, coll.Scatterv:
		return c.Rank() == root, true
	}
	return true, true
}

// done returns the error of a blocking collective.
func (c *Comm) done(k coll.Kind, err error) error {
	if err == nil {
		return nil
	}
	return wrap(err, collectiveCall(k, blocking), c, Undefined, Undefined)
}

// start starts a nonblocking collective.
func (c *Comm) start(k coll.Kind, a *coll.Args) Request {
	return c.request(k, nonblocking, a)
}

// prepare makes a persistent collective.
func (c *Comm) prepare(k coll.Kind, a *coll.Args) Request {
	return c.request(k, persistent, a)
}

func (c *Comm) request(k coll.Kind, f form, a *coll.Args) Request {
	name := collectiveCall(k, f)
	if err := c.usable(name); err != nil {
		return Request{err: err}
	}
	if err := c.checkSides(k, a); err != nil {
		return c.refuse(k, f, err)
	}
	c.typeArgs(a)
	return c.begin(k, f, a)
}

// begin starts or prepares a collective that is usable.
func (c *Comm) begin(k coll.Kind, f form, a *coll.Args) Request {
	name := collectiveCall(k, f)
	c.callArgs(name, a)
	return c.launch(name, func(e *coll.Engine) (*p2p.Request, error) {
		if f == persistent {
			return e.Init(c.core, k, a)
		}
		return e.Start(c.core, k, a)
	})
}

// launch returns the request that begin starts or prepares under the lock.
func (c *Comm) launch(name call, begin func(e *coll.Engine) (*p2p.Request, error)) Request {
	e, p := c.w.Coll, c.w.P2P.Proc()
	if err := e.Enter(c.core, name.occupant()); err != nil {
		return Request{err: describe(err, name, c, Undefined, Undefined).raised()}
	}
	p.Lock()
	r, err := begin(e)
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
