package comm

import "github.com/halo-mpi/halo/internal/call"

// A call of the program may consist of several operations on a communicator, as a Dup is a broadcast. What the wait notes
// say is the name of the call that the program has made, not of its parts.

// called is a call of the program in progress.
type called struct {
	name call.Number
	on   *Comm // named in the text; may be nil
}

// Begin says that the program is in a call that consists of operations on c, until it calls end. If it is in such a call
// already, that one remains: the operations are a part of it.
func (c *Comm) Begin(by call.Number) (end func()) {
	x := &called{by, c}
	if !c.call.CompareAndSwap(nil, x) {
		return func() {}
	}
	parts := []*Comm{c}
	if c.Inter != nil {
		parts = append(parts, c.Inter.Union, c.Inter.Local)
		c.Inter.Union.call.Store(x)
		c.Inter.Local.call.Store(x)
	}
	return func() {
		for _, part := range parts {
			part.call.Store(nil)
		}
	}
}

// Join says that c, which no other goroutine knows yet, exists for the call in progress on another communicator.
func (c *Comm) Join(other *Comm) { c.call.Store(other.call.Load()) }

// PartOf says that c, which no other goroutine knows yet, exists for a call of the program on another communicator, which
// may be nil.
func (c *Comm) PartOf(by call.Number, other *Comm) { c.call.Store(&called{by, other}) }

// Leave undoes Join for a communicator that remains after the call.
func (c *Comm) Leave() { c.call.Store(nil) }

// Operation returns the call in progress on c, and the communicator that texts name: that of the call if c has no name
// itself. Without such a call it is Usual, or the operation if that is None.
func (c *Comm) Operation(name call.Number) (call.Number, *Comm) {
	x := c.call.Load()
	switch {
	case x != nil && x.on != nil && c.Name.Load() == nil:
		return x.name, x.on
	case x != nil:
		return x.name, c
	case c.Usual != call.None:
		return c.Usual, c
	}
	return name, c
}

// AppendOperation appends the text of Operation.
func (c *Comm) AppendOperation(b []byte, name call.Number) []byte {
	name, on := c.Operation(name)
	return on.AppendCall(b, name)
}

// AppendCall appends the name of a call, and the name of c if it has one.
func (c *Comm) AppendCall(b []byte, by call.Number) []byte {
	return c.AppendOn(c.Proc.AppendCall(b, by))
}
