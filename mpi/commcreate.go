package mpi

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
)

// Dup makes a communicator of the same members as c, with a context of its own. The new
// communicator has the error handler of c, the attributes that copy callbacks copy, and only the
// given hints; it does not have the name of c. If a callback fails in this process, the call
// returns no new communicator here, while other members may get theirs. Collective over c.
//
// C: MPI_Comm_dup and MPI_Comm_dup_with_info, section 7.4.2.
func (c *Comm) Dup(hints ...CommHint) (*Comm, error) { return c.dup(call.CommDup, hints) }

// DupWithInfo is MPI_Comm_dup_with_info.
func (internals) DupWithInfo(c *Comm, info *Info) (*Comm, error) {
	return c.dup(call.CommDupWithInfo, []CommHint{info})
}

func (c *Comm) dup(k call.Number, list []CommHint) (*Comm, error) {
	if err := c.usable(k); err != nil {
		return nil, err
	}
	checkKeys(c, k, list...)
	end := c.core.Begin(k)
	core, err := c.w.Coll.Dup(c.core)
	end()
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	d := c.derive(core)
	d.copyTopology(c)
	d.setHints(list)
	// Callbacks run after the collective, so that other members do not wait for them.
	if err := c.attrs.copy(c, d, k, &d.attrs); err != nil {
		c.w.Coll.Free(core)
		d.freed.Store(true)
		return nil, err.raised()
	}
	return d, nil
}

// Idup starts a Dup. The communicator that it returns can be used when the request is complete;
// until then calls on it are ErrComm, except those that set and get its error handler. Idup
// copies the attributes, and calls their callbacks, before it returns.
//
// C: MPI_Comm_idup and MPI_Comm_idup_with_info, section 7.4.2.
func (c *Comm) Idup(hints ...CommHint) (*Comm, Request) { return c.idup(call.CommIdup, hints) }

// IdupWithInfo is MPI_Comm_idup_with_info.
func (internals) IdupWithInfo(c *Comm, info *Info) (*Comm, Request) {
	return c.idup(call.CommIdupWithInfo, []CommHint{info})
}

func (c *Comm) idup(k call.Number, list []CommHint) (*Comm, Request) {
	if err := c.usable(k); err != nil {
		return nil, Request{err: err}
	}
	checkKeys(c, k, list...)
	d := c.derive(c.w.Coll.Blank(c.core))
	d.copyTopology(c)
	d.making.Store(true)
	d.freed.Store(true)
	d.setHints(list)
	failed := c.attrs.copy(c, d, k, &d.attrs)
	core := d.core
	ready := func() error {
		d.freed.Store(false) // pairs with the loads at the beginning of every call
		d.making.Store(false)
		return nil
	}
	if failed != nil {
		// The other members still need this process to take part; it drops the communicator that
		// results. The request completes when the operation has ended.
		ready = func() error {
			c.w.Coll.Drop(core)
			return failed
		}
		d = nil
	}
	if err := c.w.Coll.Enter(c.core, call.CommIdup); err != nil {
		if d != nil {
			d.attrs.clear(d, k) // Enter comes after the callbacks of attributes, which may be collective over c
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

// Create makes a communicator of the members of g, which must be members of c, and returns nil
// to processes that are not in g. Members may pass different groups if these are disjoint. A
// process that is in no group passes any group that it is not in, such as GroupEmpty. ErrGroup
// if a process of g is not in c. Collective over c.
//
// On an intercommunicator all members of a side pass one group of processes of their own side.
// The new communicator is an intercommunicator between the two groups, and nil if one of them is
// empty.
//
// C: MPI_Comm_create, section 7.4.2.
func (c *Comm) Create(g Group) (*Comm, error) {
	if err := c.holds(call.CommCreate, g); err != nil {
		return nil, err
	}
	defer c.core.Begin(call.CommCreate)()
	d, err := c.w.Coll.Create(c.core, g.members)
	return c.created(call.CommCreate, d, err)
}

// CreateGroup is Create that is collective only over the members of g; other members of c do not
// take part. If several goroutines of a process create groups at the same time, different tags
// tell these calls apart. The tags are independent of those of messages.
//
// C: MPI_Comm_create_group, section 7.4.2.
func (c *Comm) CreateGroup(g Group, tag int) (*Comm, error) {
	if err := c.holds(call.CommCreateGroup, g); err != nil {
		return nil, err
	}
	if err := c.intra(call.CommCreateGroup); err != nil {
		return nil, err
	}
	if tag < 0 || tag > maxTag {
		return nil, fail(ErrTag, call.CommCreateGroup, c, "tag %d is not in 0..%d", tag, maxTag)
	}
	d, err := c.w.Coll.CreateGroup(c.core, g.members, int32(tag))
	return c.created(call.CommCreateGroup, d, err)
}

// holds returns an error unless all processes of g are members of c.
func (c *Comm) holds(k call.Number, g Group) *Error {
	if err := c.usable(k); err != nil {
		return err
	}
	if err := c.stranger(k, ErrGroup, "group", g.self); err != nil {
		return err
	}
	for r, p := range g.members {
		if c.core.Own().RankOf(p) < 0 {
			return fail(ErrGroup, k, c, "rank %d of the group is not a member of the communicator", r)
		}
	}
	return nil
}

// created makes the results of a call that makes a communicator.
func (c *Comm) created(k call.Number, core *comm.Comm, err error) (*Comm, error) {
	if err != nil {
		return nil, wrap(err, k, c, Undefined, Undefined)
	}
	if core == nil {
		return nil, nil
	}
	return c.derive(core), nil
}

// Split makes one communicator for each color, of the members of c that pass that color, ordered
// by key and then by rank. A member that passes Undefined gets nil. On an intercommunicator
// Split does so on both sides, and the two groups of one color become an intercommunicator; if
// only one side passes a color, its members get nil. Collective over c.
//
// C: MPI_Comm_split, section 7.4.2.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if err := c.usable(call.CommSplit); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined {
		return nil, fail(ErrArg, call.CommSplit, c, "color %d is negative and not Undefined", color)
	}
	defer c.core.Begin(call.CommSplit)()
	d, err := c.w.Coll.Split(c.core, color, key)
	return c.created(call.CommSplit, d, err)
}

// Free frees the communicator: no call on it may follow in this process. Its attributes are
// deleted, the last set first. If a callback fails, Free returns the error and the communicator
// remains, with that attribute and those set before it. Pending operations on it complete, persistent
// requests can still be started, and their errors go to the error handler of c, which can ask c for
// its group, name and handler. Its attached buffer is detached, after the messages in it have been sent. Collective over c; the
// world and self cannot be freed.
//
// C: MPI_Comm_free, section 7.4.3.
func (c *Comm) Free() error { return c.free(call.CommFree, func() {}) }

// Disconnect is Free that first waits until all pending communication on c in this process has
// completed. The program still has to wait for the requests.
//
// C: MPI_Comm_disconnect, section 11.10.4.
func (c *Comm) Disconnect() error {
	return c.free(call.CommDisconnect, func() {
		c.w.P2P.Settle(c.core, func() bool { return c.w.Coll.Busy(c.core) || c.w.Part.Busy(c.core) })
		c.w.P2P.LandAll(c.core)
	})
}

func (c *Comm) free(k call.Number, first func()) error {
	if err := c.usable(k); err != nil {
		return err
	}
	if c.fixed {
		return fail(ErrComm, k, c, "the communicators of Init cannot be freed")
	}
	first()
	// Idle checks first, since callbacks of attributes may be collective over c, and a Free that
	// is refused must not have deleted attributes. Claim checks again, since another goroutine
	// may have begun a collective meanwhile.
	if err := c.w.Coll.Idle(c.core, call.CommFree); err != nil {
		return c.notFreed(k, err)
	}
	if err := c.attrs.clear(c, k); err != nil {
		return err
	}
	if err := c.w.Coll.Claim(c.core, call.CommFree); err != nil {
		return c.notFreed(k, err)
	}
	c.freed.Store(true)
	if k == call.CommDisconnect {
		c.w.Meet.Unlink(c.core)
	} else {
		c.w.Meet.Keep(c.core)
	}
	if s := c.self.session; s != nil {
		s.remove(c, k == call.CommDisconnect)
	}
	c.w.Coll.Free(c.core)
	c.w.P2P.Abandon(c.core.Ctx)
	return nil
}

// notFreed is the error of a Free that failed because of another call on c.
func (c *Comm) notFreed(k call.Number, err error) error {
	if c.freed.Load() { // by that call
		return failGone(ErrComm, k, c, "communicator has been freed")
	}
	return wrap(err, k, c, Undefined, Undefined)
}

// Comparison is the result of a comparison of two communicators or groups.
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

// Compare compares c and d. Intercommunicators are compared by both groups; compared with an
// intracommunicator they are Unequal. It is local.
//
// C: MPI_Comm_compare, section 7.4.1.
func (c *Comm) Compare(d *Comm) (Comparison, error) {
	if err := c.usable(call.CommCompare); err != nil {
		return Unequal, err
	}
	if err := d.usable(call.CommCompare); err != nil {
		return Unequal, err
	}
	switch {
	case c.w != d.w:
		return Unequal, nil
	case c.self != d.self:
		return Unequal, c.stranger(call.CommCompare, ErrComm, "second communicator", d.self)
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
