package comm

// A call of the program may consist of several operations on a communicator, as a Dup is a broadcast. What the wait notes
// say is the name of the call that the program has made, not of its parts.

// called is a call of the program in progress.
type called struct {
	name string
	on   *Comm // named in the text; may be nil
}

// Begin says that the program is in a call that consists of operations on c, until it calls end. If it is in such a call
// already, that one remains: the operations are a part of it.
func (c *Comm) Begin(call string) (end func()) {
	x := &called{call, c}
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
func (c *Comm) PartOf(call string, other *Comm) { c.call.Store(&called{call, other}) }

// Leave undoes Join for a communicator that remains after the call.
func (c *Comm) Leave() { c.call.Store(nil) }

// Operation returns the name of the call in progress on c, with that of its communicator if c has no name itself. Without
// such a call it is Usual, or the name of the operation if that is empty.
func (c *Comm) Operation(name string) string {
	x := c.call.Load()
	switch {
	case x != nil && x.on != nil && c.Name.Load() == nil:
		return string(x.on.AppendOn([]byte(x.name)))
	case x != nil:
		return x.name
	case c.Usual != "":
		return c.Usual
	}
	return name
}
