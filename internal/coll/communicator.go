package coll

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/shmfmt"
)

// Undefined is the colour of a member that is to be in no group.
const Undefined = -32766

const (
	// WorldSlot is the slot of the communicator of all processes, which exists
	// before they can agree on anything.
	WorldSlot = 0
	// NoSlot stands for the slot of communicators that use messages only.
	NoSlot = -1
)

// Attach prepares collectives on c, a communicator that exists from the start,
// with slot WorldSlot or NoSlot.
func (e *Engine) Attach(c *comm.Comm, slot int) {
	if slot == WorldSlot && (e.node == nil || c.Size() == 1 || !e.shared(c.Members)) {
		slot = NoSlot
	}
	if slot == WorldSlot {
		e.node.Control().Slot(slot).Acquire(c.Ctx) // one member does
	}
	e.attach(c, slot)
}

func (e *Engine) attach(c *comm.Comm, slot int) {
	s := &state{}
	if slot != NoSlot {
		s.slot = e.newSlot(c, slot)
	}
	c.Coll = s
}

// shared reports whether all these processes reach each other through memory.
func (e *Engine) shared(members []int32) bool {
	for _, m := range members {
		if e.node.LocalIndex(int(m)) < 0 {
			return false
		}
	}
	return true
}

// identity is what the first member of a new communicator chooses for it.
type identity struct {
	ctx  uint64
	slot int
}

const identitySize = 16

// choose makes the identity of a new communicator of the given members, of which
// the calling process is the first. A slot is taken if one is free.
func (e *Engine) newIdentity(members []int32) identity {
	id := identity{e.p.NewContext(), NoSlot}
	if len(members) == 1 || e.node == nil || !e.shared(members) {
		return id
	}
	for i := WorldSlot + 1; i < shmfmt.SlotCount; i++ {
		if e.node.Control().Slot(i).Acquire(id.ctx) {
			id.slot = i
			break
		}
	}
	return id
}

func (id identity) encode(b []byte) {
	binary.LittleEndian.PutUint64(b, id.ctx)
	binary.LittleEndian.PutUint64(b[8:], uint64(int64(id.slot)))
}

// decode checks what another process has chosen.
func (e *Engine) decode(b []byte) (identity, error) {
	id := identity{binary.LittleEndian.Uint64(b), int(int64(binary.LittleEndian.Uint64(b[8:])))}
	if id.slot != NoSlot && (e.node == nil || id.slot <= WorldSlot || id.slot >= shmfmt.SlotCount ||
		e.node.Control().Slot(id.slot).Head().Owner.Load() != id.ctx) {
		return id, &class.Error{Class: class.Intern, Text: fmt.Sprintf("slot %d for context %#x", id.slot, id.ctx)}
	}
	return id, nil
}

// Dup makes a communicator with the members of c and a context of its own. It is
// collective and takes the lock.
func (e *Engine) Dup(c *comm.Comm) (*comm.Comm, error) {
	buf := make([]byte, identitySize)
	if c.Rank == 0 {
		e.p.Lock()
		e.newIdentity(c.Members).encode(buf)
		e.p.Unlock()
	}
	if err := e.Bcast(c, buf, 0); err != nil {
		return nil, err
	}
	e.p.Lock()
	defer e.p.Unlock()
	id, err := e.decode(buf)
	if err != nil {
		return nil, err
	}
	d := comm.New(e.p, id.ctx, c.Rank, c.Members)
	e.attach(d, id.slot)
	return d, nil
}

// Split makes a communicator of the members of c that give the same color, in
// the order of key and then of rank in c; nil for color Undefined. It is
// collective and takes the lock.
//
// The members learn all colors and keys; then the first member of each new group
// tells the others what it has chosen, with messages of c.
func (e *Engine) Split(c *comm.Comm, color, key int) (*comm.Comm, error) {
	e.p.Lock()
	defer e.p.Unlock()
	const width = 16
	mine, all := make([]byte, width), make([]byte, width*c.Size())
	binary.LittleEndian.PutUint64(mine, uint64(color))
	binary.LittleEndian.PutUint64(mine[8:], uint64(key))
	if err := e.allgather(c, mine, all); err != nil {
		return nil, err
	}
	tag := nextTag(c)
	if color == Undefined {
		return nil, nil
	}
	var ranks []int // in c, of the members of the new group
	keyOf := func(r int) int64 { return int64(binary.LittleEndian.Uint64(all[width*r+8:])) }
	for r := range c.Size() {
		if binary.LittleEndian.Uint64(all[width*r:]) == uint64(color) {
			ranks = append(ranks, r)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int {
		switch x, y := keyOf(a), keyOf(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	members := make([]int32, len(ranks))
	for i, r := range ranks {
		members[i] = c.Members[r]
	}
	group := comm.New(e.p, c.Ctx, slices.Index(ranks, c.Rank), members)
	id, err := e.agree(group, tag)
	if err != nil {
		return nil, err
	}
	d := comm.New(e.p, id.ctx, group.Rank, members)
	e.attach(d, id.slot)
	return d, nil
}

// agree returns the identity that the first member of group chooses.
func (e *Engine) agree(group *comm.Comm, tag int32) (identity, error) {
	if group.Size() == 1 {
		return e.newIdentity(group.Members), nil
	}
	buf := make([]byte, identitySize)
	if group.Rank == 0 {
		e.newIdentity(group.Members).encode(buf)
	}
	s := e.newSchedule(group, BcastBinomial)
	s.recv = buf
	if err := e.wait(e.start(s, tag)); err != nil {
		return identity{}, err
	}
	return e.decode(buf)
}

// Free ends collectives on c in this process. Those under way come to their end.
// The slot is free again when all members have freed the communicator. It takes
// the lock.
func (e *Engine) Free(c *comm.Comm) {
	e.p.Lock()
	defer e.p.Unlock()
	if s := stateOf(c).slot; s != nil {
		s.mem.Free(c.Size())
	}
	c.Coll = nil
}
