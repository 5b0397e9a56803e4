package mpi

import (
	"math"
	"sync/atomic"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/world"
)

// Special values of ranks, tags and counts.
//
// C: MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_ROOT, MPI_UNDEFINED, sections 3.2.4, 3.10 and 7.4.2.
const (
	AnySource = -1     // receive from any rank
	AnyTag    = -2     // receive with any tag
	ProcNull  = -3     // no process: communication with it does nothing
	Root      = -4     // root of a collective on an intercommunicator
	Undefined = -32766 // no value
)

// maxTag is the largest tag: all non-negative values of an int32 are tags.
const maxTag = math.MaxInt32

// Comm is a communicator: an ordered group of processes, and a context that separates its
// messages from those of all other communicators. Copies of the pointer refer to the same
// communicator.
//
// An intercommunicator, which IntercommCreate makes, has two groups. The local group contains
// the calling process; Rank, Size and Group refer to it. Communication is with the processes of
// the remote group.
//
// C: MPI_Comm, section 7.2.
type Comm struct {
	w     *world.World
	core  *comm.Comm
	freed atomic.Bool // freed, or still being made by Idup: then making is set
	fixed bool        // world and self cannot be freed
	self  *Comm       // self of the same process, or of its session
	*own              // in self; else nil
	win   *Window     // the window that it stands for, nil for a communicator: see Window
	file  *File       // the file that it stands for, nil for a communicator

	making   atomic.Bool
	handling atomic.Int32               // calls of its error handler that run after it was freed
	handler  atomic.Pointer[errhandler] // never nil
	chosen   atomic.Bool                // SetErrhandler has been called: its store pairs with ofNone's load
	hints    atomic.Uint32
	asserted assertedKinds
	attrs    attributes

	topology structure // nil if it has none
}

// own is what the communicators of the world model, or of a session, share in a process. The self
// of each has one: for a session that is a communicator that stands for it, and on which nobody
// communicates.
type own struct {
	*engine
	world   *Comm    // the communicator of all processes; nil in a session
	session *Session // nil in the world model
	kinds   string   // memory allocation kinds
	always  bool     // its self stands for the process, whatever begins and ends: see ProcessComm
}

// engine is what the world model and the sessions of a process share.
type engine struct {
	left    *leftovers   // in checking mode; else nil
	keys    *infoKeys    // like left
	opened  atomic.Int64 // sessions, for their names
	crossed atomic.Bool  // in checking mode: it has been said what is not compared with other jobs
	spawns  spawns
}

func newEngine(w *world.World) *engine {
	e := &engine{}
	if w.Checks() {
		e.left = newLeftovers()
		e.keys = &infoKeys{reported: map[string]bool{}}
		w.Locate(current.locate())
	}
	return e
}

// firstComms makes the communicators of all processes and of this one alone.
func firstComms(w *world.World, e *engine) *Comm {
	self := &Comm{w: w, core: w.Self, fixed: true}
	self.self = self
	c := &Comm{w: w, core: w.Comm, fixed: true, self: self}
	self.own = &own{engine: e, world: c, kinds: worldKinds()}
	for _, k := range []struct {
		c    *Comm
		name string
	}{{c, "world"}, {self, "self"}} {
		k.c.core.Name.Store(&k.name)
		k.c.handler.Store(initialErrhandler())
	}
	if w.Parent != nil {
		parent, name := c.derive(w.Parent), "parent"
		parent.core.Name.Store(&name)
		e.spawns.parent.Store(parent)
	}
	return c
}

// derive makes a communicator that inherits the error handler of c.
func (c *Comm) derive(core *comm.Comm) *Comm {
	d := &Comm{w: c.w, core: core, self: c.self}
	core.Name.Store(new(string))
	d.handler.Store(c.handler.Load())
	d.enter(c)
	return d
}

// enter records a communicator that was made from c, nil if from a group, where that is needed.
func (d *Comm) enter(c *Comm) {
	if l := d.self.left; l != nil {
		l.comm(d)
	}
	if s := d.self.session; s != nil {
		s.add(d, c)
	}
	d.w.Meet.Link(d.core)
	if d.w.Checks() && d.core.Rank == 0 && d.w.Meet.Crosses(d.core) && d.self.crossed.CompareAndSwap(false, true) {
		verbosely("HALO_CHECK: nothing is compared on communicators and windows with processes of other jobs")
	}
}

// Rank is the rank of the calling process in the communicator, from 0.
//
// C: MPI_Comm_rank, section 7.4.1.
func (c *Comm) Rank() int { return c.core.Rank }

// Size is the number of processes in the communicator; of an intercommunicator, in its local
// group.
//
// C: MPI_Comm_size, section 7.4.1.
func (c *Comm) Size() int { return c.core.Own().Size() }

// peers is the number of processes with which messages are exchanged.
func (c *Comm) peers() int { return len(c.core.Members) }

// Name is the name that SetName gave, or empty if it was not called. The first communicators are
// called "world" and "self".
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

// SetName names the communicator in this process, for errors and tools. The name has at most 127
// bytes. The call is local and has no other effect.
//
// C: MPI_Comm_set_name, section 7.8.
func (c *Comm) SetName(name string) error {
	if err := c.usable(call.CommSetName); err != nil {
		return err
	}
	if len(name) > maxName {
		return fail(ErrArg, call.CommSetName, c, "name of %d bytes, the limit is %d", len(name), maxName)
	}
	c.core.Name.Store(&name)
	return nil
}

// Abort ends the whole job at once, whatever the communicator. The launcher prints which rank
// called it and exits with the lowest 8 bits of code. Other multiples of 256 than 0 give status
// 1, so that only code 0 looks like success.
//
// C: MPI_Abort, section 9.5.
func (c *Comm) Abort(code int) {
	c.w.Abort(code, "")
}

// usable returns the error of a call on c if c cannot be used, else nil.
func (c *Comm) usable(k call.Number) *Error {
	switch {
	case c == nil:
		return fail(ErrComm, k, nil, "communicator is nil")
	case c.freed.Load():
		switch {
		case c.making.Load():
			return failGone(ErrComm, k, c, "communicator is still being made: the request of Idup is not complete")
		case c.self.session.over():
			return failGone(ErrComm, k, c, "the session of the communicator has been finalized")
		case c.handling.Load() > 0 && !communicates(k):
			return nil // the error handler may ask it
		}
		return failGone(ErrComm, k, c, "communicator has been freed")
	case c.w.SlowPath():
		return c.usableSlowPath(k)
	}
	return nil
}

// ended reports whether c belongs to the world model, and that has ended.
func (c *Comm) ended() bool { return c.w.Closed() && c.self.session == nil && !c.self.always }

// usableSlowPath is the part of usable for processes that have ended communication, or that run
// in checking mode.
func (c *Comm) usableSlowPath(k call.Number) *Error {
	switch {
	case c.ended():
		return fail(ErrOther, k, c, "called after Finalize")
	case communicates(k) && inOperation():
		return fail(ErrOther, k, c, "called by an operation of a reduction, which must not communicate")
	}
	return nil
}

// check validates the arguments of a call that has a peer. wild allows the wildcards of a
// receive.
func (c *Comm) check(k call.Number, peer, tag int, wild bool) *Error {
	if err := c.usable(k); err != nil {
		return err
	}
	bad := func(cl Class, format string, args ...any) *Error {
		e := newError(cl, k, c, format, args...)
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
