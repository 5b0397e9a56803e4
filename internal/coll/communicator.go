package coll

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Undefined is the colour of a member that is not to be in any group.
const Undefined = -32766

const (
	// WorldSlot is the slot of the communicator of all processes, which exists before the
	// processes can agree on a slot.
	WorldSlot = 0
	// NoSlot is the slot number of communicators that use messages only.
	NoSlot = -1
)

// Attach prepares collectives on c, a communicator that exists from the start,
// with slot WorldSlot or NoSlot. The lock is held.
func (e *Engine) Attach(c *comm.Comm, at int) error {
	world := at == WorldSlot
	if at == WorldSlot && (e.node == nil || c.Size() == 1 || !e.shared(c.Members)) {
		at = NoSlot
	}
	if at == WorldSlot {
		s, err := e.node.Control().OpenSlot(at)
		if err != nil {
			return err
		}
		s.Acquire(c.Ctx) // one member succeeds
	}
	e.attach(c, at)
	stateOf(c).world = world
	return nil
}

func (e *Engine) attach(c *comm.Comm, at int) {
	s := newState(choice.Site{Ranks: c.Size(), Near: e.node != nil && e.shared(c.Members), Runs: true})
	s.checks = e.checks(c.Members)
	s.terms = e.newTerms()
	if len(e.p.Job().Hosts) > 1 && c.Size() > 1 && !s.where.Near && e.p.Foreign(c.Members) < 0 {
		d := e.divide(c)
		s.where.Spread, s.where.Runs = d.nodes() > 1 && d.nodes() < c.Size(), d.runs
		s.division = d
	}
	if at != NoSlot {
		s.member = member{e: e, c: c, whole: c}
		slot.Open(&s.slot, s, e.groupOf(c, &s.member, &s.member), at)
		s.busy.blocking, s.busy.idle = &s.slot.Busy, s.slot.Busy.Load()
	}
	c.Coll = s
	e.register(c)
	e.p.Hold(c.Members)
}

// shared reports whether all the given processes share memory.
func (e *Engine) shared(members []int32) bool {
	for _, m := range members {
		if !e.p.Here(int(m)) {
			return false
		}
	}
	return true
}

// identity holds what the first member of a new communicator chooses for the communicator.
type identity struct {
	serial uint64 // number of the context at the first member; sent to the others
	ctx    uint64
	slot   int
}

const identitySize = 16

// newIdentity makes the identity of a new communicator of the given members, of which the
// calling process is the first. It takes a slot if one is free; an intercommunicator gets none.
// from is the context in which the members agree: what it descends from, they descend from.
func (e *Engine) newIdentity(from uint64, members []int32, inter bool) identity {
	id := identity{slot: NoSlot}
	id.serial, id.ctx = e.p.NewContext(proc.InSession(from))
	if inter || len(members) == 1 || e.node == nil || !e.shared(members) {
		return id
	}
	id.slot = e.takeSlot(id.ctx)
	return id
}

// takeSlot takes a slot for the communicator of a context, and returns NoSlot if no slot is
// free.
func (e *Engine) takeSlot(ctx uint64) int {
	for i := WorldSlot + 1; i < shmfmt.SlotCount; i++ {
		if e.acquire(i, ctx) {
			return i
		}
	}
	return NoSlot
}

// acquire takes slot i for the communicator of a context. It reports false if another
// communicator has the slot, or this process cannot open it.
func (e *Engine) acquire(i int, ctx uint64) bool {
	s, err := e.node.Control().OpenSlot(i)
	return err == nil && s.Acquire(ctx)
}

// taken reports whether slot i, whose number another process has sent, is owned by a context.
func (e *Engine) taken(i int, ctx uint64) bool {
	if e.node == nil || i < WorldSlot || i >= shmfmt.SlotCount {
		return false
	}
	s, err := e.node.Control().OpenSlot(i)
	return err == nil && s.Head().Owner.Load() == ctx
}

func (id identity) encode(b []byte) {
	binary.LittleEndian.PutUint64(b, id.serial)
	binary.LittleEndian.PutUint64(b[8:], uint64(int64(id.slot)))
}

// decode checks the choice of the first member: the context must be one of that member's, and
// the slot must be owned by that context.
func (e *Engine) decode(b []byte, first int32) (identity, error) {
	id := identity{serial: binary.LittleEndian.Uint64(b), slot: int(int64(binary.LittleEndian.Uint64(b[8:])))}
	var ok bool
	id.ctx, ok = e.p.ContextOf(int(first), id.serial)
	if !ok {
		return id, class.Errorf(class.Intern, "context %d is none of process %d", id.serial, first)
	}
	if id.slot != NoSlot && (id.slot == WorldSlot || !e.taken(id.slot, id.ctx)) {
		return id, class.Errorf(class.Intern, "slot %d for context %#x", id.slot, id.ctx)
	}
	return id, nil
}

// Dup makes a communicator with the members of c and a new context. It is collective and takes
// the lock.
func (e *Engine) Dup(c *comm.Comm) (d *comm.Comm, err error) {
	err = occupied(c, call.CommDup, func() error {
		if c.Inter != nil {
			d, err = e.dupInter(c)
		} else {
			d, err = e.dup(c)
		}
		d, err = e.commit(c, d, err)
		return err
	})
	return d, err
}

func (e *Engine) dup(c *comm.Comm) (*comm.Comm, error) {
	buf := make([]byte, identitySize)
	e.p.Lock()
	err := e.lost(c) // a bcast may succeed although a member is lost
	if err == nil && c.Rank == 0 {
		e.newIdentity(c.Ctx, c.Members, false).encode(buf)
	}
	e.p.Unlock()
	if err == nil {
		err = e.bcastInStep(c, buf, 0, call.CommDup)
	}
	if err != nil {
		return nil, err
	}
	e.p.Lock()
	defer e.p.Unlock()
	id, err := e.decode(buf, c.Members[0])
	if err != nil {
		return nil, err
	}
	d := comm.New(e.p, id.ctx, c.Rank, c.Members)
	e.attach(d, id.slot)
	return d, nil
}

// Split makes a communicator of the members of c that give the same color, in the order of key
// and then of rank in c. It returns nil for color Undefined. On an intercommunicator, each color
// that both groups give makes one intercommunicator. It is collective and takes the lock.
func (e *Engine) Split(c *comm.Comm, color, key int) (*comm.Comm, error) {
	const width = 16
	mine := make([]byte, width)
	binary.LittleEndian.PutUint64(mine, uint64(color))
	binary.LittleEndian.PutUint64(mine[8:], uint64(key))
	return e.SplitBy(c, mine, func(all []byte) (ranks []int, err error) {
		if color == Undefined {
			return nil, nil
		}
		keyOf := func(r int) int64 { return int64(binary.LittleEndian.Uint64(all[width*r+8:])) }
		for r := range c.Whole().Size() {
			if binary.LittleEndian.Uint64(all[width*r:]) == uint64(color) {
				ranks = append(ranks, r)
			}
		}
		slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(keyOf(a), keyOf(b)) })
		return ranks, nil
	})
}

// SplitBy makes communicators of groups that each member computes from the blocks mine of all
// members, which have the same length. group returns the ranks of the member's own group, no
// ranks if the member is not to be in any group, or an error, which must be the same at all
// members. On an intercommunicator the ranks are those of the union of both groups; the ranks in
// each group make one group of the new intercommunicator. It is collective and takes the lock.
//
// An allgather gives all blocks to all members. Then the first member of each new group tells
// the others the identity that it has chosen, in messages of c.
func (e *Engine) SplitBy(c *comm.Comm, mine []byte, group func(all []byte) ([]int, error)) (d *comm.Comm, err error) {
	err = occupied(c, call.CommSplit, func() error {
		d, err = e.splitBy(c, mine, group)
		d, err = e.commit(c, d, err)
		return err
	})
	return d, err
}

func (e *Engine) splitBy(c *comm.Comm, mine []byte, group func(all []byte) ([]int, error)) (*comm.Comm, error) {
	e.p.Lock()
	defer e.p.Unlock()
	all := make([]byte, len(mine)*c.Whole().Size())
	if err := e.allgather(c.Whole(), mine, all, call.CommSplit); err != nil {
		return nil, err
	}
	tag := nextTag(c)
	ranks, err := group(all)
	if err != nil {
		return nil, err
	}
	if c.Inter != nil {
		return e.createInter(c, ranks, tag)
	}
	members := make([]int32, len(ranks))
	for i, r := range ranks {
		members[i] = c.Members[r]
	}
	return e.create(c, members, tag, c)
}

// Create makes a communicator of the given members of c, and returns nil at a member that is not
// one of them. It is collective over c, but members may give different groups if the groups are
// disjoint. A member that is in no group does not wait, unless c has members of several jobs. It takes the lock.
func (e *Engine) Create(c *comm.Comm, members []int32) (d *comm.Comm, err error) {
	err = occupied(c, call.CommCreate, func() error {
		if c.Inter != nil {
			d, err = e.createBetween(c, members)
		} else {
			d, err = e.createAmong(c, members)
		}
		d, err = e.commit(c, d, err)
		return err
	})
	return d, err
}

func (e *Engine) createAmong(c *comm.Comm, members []int32) (*comm.Comm, error) {
	e.p.Lock()
	defer e.p.Unlock()
	if stateOf(c).checks { // a member that is in no group takes part, too
		if err := e.wait(e.begin(c, Barrier, &Args{Call: call.CommCreate})); err != nil {
			return nil, err
		}
	}
	return e.create(c, members, nextTag(c), c)
}

// CreateGroup makes a communicator of the given members of c, and returns nil at a member that
// is not one of them. It is collective over these members. Concurrent calls for several groups
// are distinguished by the tag. It takes the lock.
func (e *Engine) CreateGroup(c *comm.Comm, members []int32, tag int32) (*comm.Comm, error) {
	e.p.Lock()
	defer e.p.Unlock()
	return e.createIn(c, c.Ctx+groupContext, members, tag, nil, call.CommCreateGroup)
}

// groupContext is the distance between the context of a communicator and that of CreateGroup on
// it.
const groupContext = 2

// create is createIn for a call that Begin has told c of.
func (e *Engine) create(c *comm.Comm, members []int32, tag int32, over *comm.Comm) (*comm.Comm, error) {
	return e.createIn(c, c.Ctx, members, tag, over, call.None)
}

// createIn makes a communicator of the given members of c, which agree on its identity in messages of
// the given context and tag. over is the communicator over which the call is collective, if that
// has more members. by is the call of the program; if it is None, c knows it.
func (e *Engine) createIn(c *comm.Comm, ctx uint64, members []int32, tag int32, over *comm.Comm, by call.Number) (*comm.Comm, error) {
	rank := slices.Index(members, int32(e.p.Job().Rank))
	if rank < 0 {
		return nil, nil
	}
	group := comm.New(e.p, ctx, rank, members)
	group.Within = over
	group.Join(c)
	if by != call.None {
		group.PartOf(by, c)
	}
	id, err := e.agree(group, tag, false)
	if err != nil {
		return nil, err
	}
	d := comm.New(e.p, id.ctx, rank, members)
	e.attach(d, id.slot)
	return d, nil
}

// creation is a communicator that Idup makes.
type creation struct {
	e       *Engine
	d       *comm.Comm
	request *p2p.Request
	buf     []byte
	ready   func() error
}

// Idup starts a Dup that makes d, which Blank has returned, the new communicator. When d is
// usable, ready is called with the lock held; an error of ready becomes that of the request. A
// schedule broadcasts the choice of the first member. The lock is held.
func (e *Engine) Idup(c, d *comm.Comm, ready func() error) *p2p.Request {
	k := &creation{e: e, d: d, buf: make([]byte, identitySize), ready: ready}
	k.request = e.p2p.NewRequest(c, call.CommIdup)
	tag, all := nextTag(c), c.Whole()
	if all.Rank == 0 {
		e.newIdentity(c.Ctx, all.Members, c.Inter != nil).encode(k.buf)
	}
	if all.Size() == 1 {
		k.chosen(nil)
		return k.request
	}
	s := e.newSchedule(all, choice.BcastBinomial)
	s.Recv.Mem, s.Call = mem.Of(k.buf), call.CommIdup
	e.putAgreement(s, nil, nil)
	if pending, err := e.p2p.SetWhole(e.start(s, tag), k); !pending {
		k.chosen(err)
	}
	return k.request
}

// Blank returns a communicator with the members of c, which Idup will complete.
func (e *Engine) Blank(c *comm.Comm) *comm.Comm {
	if c.Inter != nil {
		return e.likeInter(c, 0)
	}
	return comm.New(e.p, 0, c.Rank, c.Members)
}

// PartDone implements p2p.Whole: the schedule has received the choice of the first member.
func (k *creation) PartDone(r *p2p.Request) { k.chosen(r.Status.Err) }

func (k *creation) chosen(err error) {
	var id identity
	if err == nil {
		id, err = k.e.decode(k.buf, k.d.Whole().Members[0])
	}
	if err == nil {
		k.d.SetContext(id.ctx)
		if k.d.Inter != nil {
			k.e.attachInter(k.d)
		} else {
			k.e.attach(k.d, id.slot)
		}
		err = k.ready()
	}
	k.e.p2p.Finish(k.request, err)
}

// agree returns the identity that the first member of group chooses, for a communicator of that
// group, or for an intercommunicator between two parts of it.
func (e *Engine) agree(group *comm.Comm, tag int32, inter bool) (identity, error) {
	if group.Size() == 1 {
		return e.newIdentity(group.Ctx, group.Members, inter), nil
	}
	buf := make([]byte, identitySize)
	if group.Rank == 0 {
		e.newIdentity(group.Ctx, group.Members, inter).encode(buf)
	}
	s := e.newSchedule(group, choice.BcastBinomial)
	s.Recv.Mem = mem.Of(buf)
	if err := e.wait(e.start(s, tag)); err != nil {
		return identity{}, err
	}
	return e.decode(buf, group.Members[0])
}

// Free ends collectives on c in this process. Collectives in progress run to their end. The slot
// is free again when all members have freed the communicator. If a member has died, the slot is
// never free again: the process may not be dead but slow, and still write to the slot. When no
// slot is left, new communicators use messages. It takes the lock.
func (e *Engine) Free(c *comm.Comm) {
	e.p.Lock()
	defer e.p.Unlock()
	e.Drop(c)
}

// Busy reports whether a collective is in progress on c. The lock is held.
func (e *Engine) Busy(c *comm.Comm) bool {
	return slices.ContainsFunc(e.live, func(s *schedule) bool { return s.c == c || s.c == c.Whole() })
}

// Pending returns an error if collectives are in progress in contexts that of selects. It takes the lock.
func (e *Engine) Pending(of func(ctx uint64) bool) error {
	e.p.Lock()
	defer e.p.Unlock()
	for _, s := range e.live {
		if of(s.c.Whole().Ctx) && !s.Outlasts {
			return class.Errorf(class.Pending, "a collective is not complete")
		}
	}
	return nil
}

// Drop is Free with the lock held.
func (e *Engine) Drop(c *comm.Comm) {
	st := stateOf(c)
	// A later call nevertheless finds the state, and that the communicator is occupied for ever.
	st.busy.blocking.Store(st.busy.idle | uint64(call.CommFree))
	st.busy.starting.Store(uint64(call.CommFree))
	if st.slot.SlotState != nil {
		st.slot.Close()
	}
	if d := st.division; d != nil && d.slot != nil {
		d.slot.Close()
	}
	if c.Inter != nil {
		e.Drop(c.Inter.Union)
		return
	}
	if _, here := e.comms[c.Ctx]; here { // else it has been dropped before
		delete(e.comms, c.Ctx)
		e.p.Release(c.Members)
	}
}
