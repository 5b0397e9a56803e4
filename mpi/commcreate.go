package mpi

import (
	"github.com/halo-mpi/halo/internal/coll"
	"github.com/halo-mpi/halo/internal/comm"
)

// Dup makes a communicator of the same members whose messages never mix with
// those of c. It gets the error handler of c and those attributes that their copy
// callbacks copy, but not its name, and of hints only those that are given. If a callback fails in this
// process there is no new communicator here, while others may have got theirs.
// Collective over c.
//
// C: MPI_Comm_dup and MPI_Comm_dup_with_info, section 7.4.2.
func (c *Comm) Dup(hints ...CommHint) (*Comm, error) { return c.dup(callDup, hints) }

// DupWithInfo is MPI_Comm_dup_with_info.
func (internals) DupWithInfo(c *Comm, info *Info) (*Comm, error) {
	return c.dup(callDupWithInfo, []CommHint{info})
}

func (c *Comm) dup(k call, list []CommHint) (*Comm, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	checkKeys(c, k, list...)
	core, err := c.w.Coll.Dup(c.core)
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	d := c.derive(core)
	d.hints.Store(uint32(hints(0).with(list)))
	// The others wait for this process, not for its callbacks.
	if err := c.attrs.copy(c, d, k, &d.attrs); err != nil {
		c.w.Coll.Free(core)
		d.freed.Store(true)
		return nil, err.raised()
	}
	return d, nil
}

// Idup starts a Dup. The communicator it returns can be used when the request is
// complete; until then calls on it are ErrComm, but for those that set and get its error
// handler. Attributes are copied, and their callbacks called, before Idup returns.
//
// C: MPI_Comm_idup and MPI_Comm_idup_with_info, section 7.4.2.
func (c *Comm) Idup(hints ...CommHint) (*Comm, Request) { return c.idup(callIdup, hints) }

// IdupWithInfo is MPI_Comm_idup_with_info.
func (internals) IdupWithInfo(c *Comm, info *Info) (*Comm, Request) {
	return c.idup(callIdupWithInfo, []CommHint{info})
}

func (c *Comm) idup(k call, list []CommHint) (*Comm, Request) {
	if err := c.usable(k); err != nil {
		return nil, Request{err: err}
	}
	checkKeys(c, k, list...)
	d := c.derive(c.w.Coll.Blank(c.core))
	d.making.Store(true)
	d.freed.Store(true)
	d.hints.Store(uint32(hints(0).with(list)))
	failed := c.attrs.copy(c, d, k, &d.attrs)
	core := d.core
	ready := func() error {
		d.freed.Store(false) // pairs with the loads at the begin of every call
		d.making.Store(false)
		return nil
	}
	if failed != nil {
		// The others need this process all the same; what comes of it is dropped.
		// The request is complete when nothing is under way any more.
		ready = func() error {
			c.w.Coll.Drop(core)
			return failed
		}
		d = nil
	}
	if err := c.w.Coll.Enter(c.core, k.occupant()); err != nil {
		if d != nil {
			d.attrs.clear(d, k) // callbacks of attributes may be collective over c: Enter comes after them
		}
		return nil, Request{err: describe(err, k, c, Undefined, Undefined).raised()}
	}
	defer c.w.Coll.Leave(c.core)
	e := c.w.P2P
	e.Proc().Lock()
	q := watched(newRequest(k, c, c.w.Coll.Idup(c.core, core, ready)))
	e.Proc().Unlock()
	return d, q
}

// Create makes a communicator of the members of g, who are members of c, and
// returns nil to others. Members may pass different groups that have nobody in
// common; those in no group pass any that they are not in, such as GroupEmpty.
// ErrGroup if somebody in g is not in c. Collective over c.
//
// Of an intercommunicator the members of each side pass one group of their own side; the
// new one is an intercommunicator between the two, and nil if one of them is empty.
//
// C: MPI_Comm_create, section 7.4.2.
func (c *Comm) Create(g Group) (*Comm, error) {
	if err := c.holds(callCreate, g); err != nil {
		return nil, err
	}
	d, err := c.w.Coll.Create(c.core, g.members)
	return c.created(callCreate, d, err)
}

// CreateGroup is Create that is collective over the members of g only: others of
// c need not know. Who creates several groups at the same time, in several
// goroutines, tells them apart by the tag, which has nothing to do with those of
// messages.
//
// C: MPI_Comm_create_group, section 7.4.2.
func (c *Comm) CreateGroup(g Group, tag int) (*Comm, error) {
	if err := c.holds(callCreateGroup, g); err != nil {
		return nil, err
	}
	if err := c.intra(callCreateGroup); err != nil {
		return nil, err
	}
	if tag < 0 || tag > maxTag {
		return nil, fail(ErrTag, callCreateGroup.String(), c, "tag %d is not in 0..%d", tag, maxTag)
	}
	d, err := c.w.Coll.CreateGroup(c.core, g.members, int32(tag))
	return c.created(callCreateGroup, d, err)
}

// holds fails unless all of g are members of c.
func (c *Comm) holds(k call, g Group) *Error {
	if err := c.usable(k); err != nil {
		return err
	}
	if g.self != nil && g.self != c.self {
		return fail(ErrGroup, k.String(), c, "the group belongs to another process")
	}
	for r, p := range g.members {
		if c.core.Own().RankOf(p) < 0 {
			return fail(ErrGroup, k.String(), c, "rank %d of the group is not a member of the communicator", r)
		}
	}
	return nil
}

// created is what a call that makes a communicator returns.
func (c *Comm) created(k call, core *comm.Comm, err error) (*Comm, error) {
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	if core == nil {
		return nil, nil
	}
	return c.derive(core), nil
}

// Split makes a communicator for each color, of the members of c that pass it,
// in the order of key and then of rank. A member that passes Undefined gets
// nil. Of an intercommunicator that is done on both sides, and the groups of one color
// become an intercommunicator; where only one side passes it the result is nil.
// Collective over c.
//
// C: MPI_Comm_split, section 7.4.2.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if err := c.usable(callSplit); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined {
		return nil, fail(ErrArg, "Split", c, "color %d is negative and not Undefined", color)
	}
	d, err := c.w.Coll.Split(c.core, color, key)
	return c.created(callSplit, d, err)
}

// Free gives the communicator up: no call on it may follow in this process. Its
// attributes are deleted, the last set first; if a callback fails, so does Free,
// and the communicator lives on with that attribute and those before it.
// Operations that are pending on it complete, and so do the messages in a buffer
// attached to it, which is detached. Collective over c; the world and self
// cannot be freed.
//
// C: MPI_Comm_free, section 7.4.3.
func (c *Comm) Free() error { return c.free(callFree, func() {}) }

// Disconnect is Free that first waits until all communication that is pending on c
// has completed, in this process. The requests are still to be waited for.
//
// C: MPI_Comm_disconnect, section 11.10.4.
func (c *Comm) Disconnect() error {
	return c.free(callDisconnect, func() {
		c.w.P2P.Settle(c.core, func() bool { return c.w.Coll.Busy(c.core) })
	})
}

func (c *Comm) free(k call, first func()) error {
	if err := c.usable(k); err != nil {
		return err
	}
	if c.fixed {
		return fail(ErrComm, k.String(), c, "the communicators of Init cannot be freed")
	}
	first()
	// Twice, since callbacks of attributes may be collective over c: a call that is refused has
	// deleted none, unless another goroutine has begun one meanwhile.
	if err := c.w.Coll.Idle(c.core, coll.CallFree); err != nil {
		return c.notFreed(k, err)
	}
	if err := c.attrs.clear(c, k); err != nil {
		return err
	}
	if err := c.w.Coll.Claim(c.core, coll.CallFree); err != nil {
		return c.notFreed(k, err)
	}
	c.freed.Store(true)
	c.w.Coll.Free(c.core)
	c.w.P2P.Abandon(c.core.Ctx)
	return nil
}

// notFreed is the error of a Free that another call on c keeps from happening.
func (c *Comm) notFreed(k call, err error) error {
	if c.freed.Load() { // by that call
		return fail(ErrComm, k.String(), c, "communicator has been freed")
	}
	return wrap(err, k, c, Undefined, Undefined)
}

// Comparison is how two communicators relate.
//
// C: MPI_IDENT and so on, section 7.4.1.
type Comparison int

// The results of Compare.
//
// C: MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL, section 7.4.1.
const (
	Ident     Comparison = 201 // the same communicator
	Congruent Comparison = 202 // the same members in the same order
	Similar   Comparison = 203 // the same members in another order
	Unequal   Comparison = 204 // other members
)

// Compare tells how c and d relate. Intercommunicators are compared by both groups, and
// are Unequal to a communicator of one group. It is local.
//
// C: MPI_Comm_compare, section 7.4.1.
func (c *Comm) Compare(d *Comm) (Comparison, error) {
	if err := c.usable(callCompare); err != nil {
		return Unequal, err
	}
	if err := d.usable(callCompare); err != nil {
		return Unequal, err
	}
	switch {
	case c.w != d.w:
		return Unequal, nil
	case c.core.Ctx == d.core.Ctx:
		return Ident, nil
	case c.Inter() != d.Inter():
		return Unequal, nil
	case !c.Inter():
		return compareMembers(c.core, d.core), nil
	}
	return max(compareMembers(c.core, d.core), compareMembers(c.core.Own(), d.core.Own())), nil
}

func compareMembers(a, b *comm.Comm) Comparison {
	if a.Size() != b.Size() {
		return Unequal
	}
	result := Congruent
	for r, m := range a.Members {
		if b.RankOf(m) < 0 {
			return Unequal
		}
		if b.Members[r] != m {
			result = Similar
		}
	}
	return result
}
