package mpi

import (
	"math"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/world"
)

// Special values of ranks, tags and counts.
//
// C: MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_ROOT, MPI_UNDEFINED, sections 3.2.4, 3.10 and 7.4.2.
const (
	AnySource = -1     // receive from any rank
	AnyTag    = -2     // receive with any tag
	ProcNull  = -3     // nobody: communication with it does nothing
	Root      = -4     // root of a collective on an intercommunicator
	Undefined = -32766 // no value
)

// maxTag is the largest tag: the whole of a non-negative int32.
const maxTag = math.MaxInt32

// Comm is a communicator: an ordered group of processes and a context that
// keeps its messages apart from all others. Copies of the pointer mean the same
// communicator.
//
// An intercommunicator, which IntercommCreate makes, has two such groups: the local one,
// that the calling process is in, which Rank, Size and Group tell of; and the remote one,
// with which the processes of the local one communicate.
//
// C: MPI_Comm, section 7.2.
type Comm struct {
	w     *world.World
	core  *comm.Comm
	freed atomic.Bool // or still in the making, by Idup: then making is set
	fixed bool        // world and self cannot be freed
	self  *Comm       // of the same process
	world *Comm       // of self: that of all processes
	left  *leftovers  // of self, if the process checks; else nil
	keys  *infoKeys   // likewise
	win   *Window     // which it stands for, nil for a communicator: see Window

	making  atomic.Bool
	handler atomic.Pointer[errhandler] // never nil
	chosen  atomic.Bool                // by SetErrhandler: its store pairs with ofNone's load
	hints   atomic.Uint32
	attrs   attributes
}

// firstComms makes the communicators of all processes and of this one alone.
func firstComms(w *world.World) *Comm {
	self := &Comm{w: w, core: w.Self, fixed: true}
	self.self = self
	if w.Checks() {
		self.left = newLeftovers()
		self.keys = &infoKeys{reported: map[string]bool{}}
	}
	c := &Comm{w: w, core: w.Comm, fixed: true, self: self}
	self.world = c
	for _, k := range []struct {
		c    *Comm
		name string
	}{{c, "world"}, {self, "self"}} {
		k.c.core.Name.Store(&k.name)
		k.c.handler.Store(initialErrhandler())
	}
	return c
}

// derive makes a communicator with what it inherits of c.
func (c *Comm) derive(core *comm.Comm) *Comm {
	d := &Comm{w: c.w, core: core, self: c.self}
	core.Name.Store(new(string))
	d.handler.Store(c.handler.Load())
	if l := c.self.left; l != nil {
		l.comm(d)
	}
	return d
}

// Rank is the number of the calling process in the communicator, from 0.
//
// C: MPI_Comm_rank, section 7.4.1.
func (c *Comm) Rank() int { return c.core.Rank }

// Size is the number of processes in the communicator, of an intercommunicator in its
// local group.
//
// C: MPI_Comm_size, section 7.4.1.
func (c *Comm) Size() int { return c.core.Own().Size() }

// peers is the number of processes that messages go to and come from.
func (c *Comm) peers() int { return len(c.core.Members) }

// Name is the name given by SetName, empty if none was; the first communicators
// are called "world" and "self".
//
// C: MPI_Comm_get_name, section 7.8.
func (c *Comm) Name() string {
	if c == nil {
		return ""
	}
	return *c.core.Name.Load()
}

// maxName is the longest name in bytes (MPI_MAX_OBJECT_NAME without its NUL).
const maxName = 127

// SetName names the communicator in this process, for errors and tools. At most
// 127 bytes; it is local and has no other effect.
//
// C: MPI_Comm_set_name, section 7.8.
func (c *Comm) SetName(name string) error {
	if err := c.usable(callSetName); err != nil {
		return err
	}
	if len(name) > maxName {
		return fail(ErrArg, "SetName", c, "name of %d bytes, the limit is %d", len(name), maxName)
	}
	c.core.Name.Store(&name)
	return nil
}

// Abort ends the whole job at once, whatever the communicator. The launcher says
// who called it and exits with the lowest 8 bits of code: with 0 for code 0, and
// with 1 for other multiples of 256, so that no other code looks like success.
//
// C: MPI_Abort, section 9.5.
func (c *Comm) Abort(code int) {
	c.w.Abort(code, "")
}

// usable reports why calls on c are not possible, nil if they are.
func (c *Comm) usable(k call) *Error {
	switch {
	case c == nil:
		return fail(ErrComm, k.String(), nil, "communicator is nil")
	case c.freed.Load():
		if c.making.Load() {
			return fail(ErrComm, k.String(), c, "communicator is still being made: the request of Idup is not complete")
		}
		return fail(ErrComm, k.String(), c, "communicator has been freed")
	case c.w.SlowPath():
		return c.usableSlowPath(k)
	}
	return nil
}

// usableSlowPath is usable where communication has ended, or is checked.
func (c *Comm) usableSlowPath(k call) *Error {
	switch {
	case c.w.Closed():
		return fail(ErrOther, k.String(), c, "called after Finalize")
	case k.communicates() && inOperation():
		return fail(ErrOther, k.String(), c, "called by an operation of a reduction, which must not communicate")
	}
	return nil
}

// check validates the arguments of a call that names a peer. wild allows the
// wildcards of a receive.
func (c *Comm) check(k call, peer, tag int, wild bool) *Error {
	if err := c.usable(k); err != nil {
		return err
	}
	bad := func(cl Class, format string, args ...any) *Error {
		e := newError(cl, k.String(), c, format, args...)
		e.Peer, e.Tag, e.receive = peer, tag, wild
		return e.raised()
	}
	if n := c.peers(); (peer < 0 || peer >= n) && peer != ProcNull && !(wild && peer == AnySource) {
		if c.core.Inter != nil {
			return bad(ErrRank, "rank %d of a remote group of size %d", peer, n)
		}
		return bad(ErrRank, "rank %d in a communicator of %d", peer, n)
	}
	if (tag < 0 || tag > maxTag) && !(wild && tag == AnyTag) {
		return bad(ErrTag, "tag %d is not in 0..%d", tag, maxTag)
	}
	if wild && (peer < 0 || tag < 0) {
		if cl, why := c.forbids(peer, tag); cl != Success {
			return bad(cl, "%s", why)
		}
	}
	return nil
}
