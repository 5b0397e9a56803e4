package coll

import (
	"encoding/binary"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/choice"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
)

// A short blocking collective of a communicator on several nodes uses, on each node, a slot that
// the members of the node share. The leaders run the stage of the schedule between the nodes.
// Each node decides for itself whether it has a slot. The members of a node without a slot run
// the whole schedule; the leaders of other nodes see no difference.

// across returns the division for a short collective of the kind to which each member gives size
// bytes; nil if the collective does not use the slots of nodes.
func (e *Engine) across(c *comm.Comm, k Kind, size int) *division {
	st := stateOf(c)
	if !st.where.Spread || size > slot.Payload || st.checks || !e.choice.UsesSlot(k) {
		return nil
	}
	if d := st.division; d.slot == nil || !d.slot.Broken || d.slot.Mended() {
		return d
	}
	return nil
}

// enter begins a short collective through leaders. It returns the tag of the schedule, and the
// slot of the node, nil if the members of the node use only the schedule. The lock is held.
func (e *Engine) enter(c *comm.Comm, d *division) (tag int32, s *slot.Slot, err error) {
	if !d.agreed {
		if err := e.agreeSlot(c, d); err != nil {
			return 0, nil, err
		}
	}
	e.p2p.DropRefusals(c.Ctx+1, d.tag)
	tag = nextTag(c)
	d.tag = tag
	s = d.slot
	if s == nil {
		return tag, nil, nil
	}
	if e.choice.Slot != slot.Auto {
		s.Form = uint8(e.choice.Slot)
	}
	return tag, s, nil
}

// agreeSlot gives the members of each node a slot, if one is free there: the leader takes the
// slot and tells the other members its number. It is collective over c; the lock is held.
func (e *Engine) agreeSlot(c *comm.Comm, d *division) error {
	tag := nextTag(c)
	if e.node == nil || d.local.Size() == 1 {
		d.agreed = true
		return nil
	}
	told := make([]byte, 8)
	if d.leaders != nil {
		slot := WorldSlot
		if !stateOf(c).world || !e.acquire(slot, c.Ctx) {
			slot = e.takeSlot(c.Ctx)
		}
		binary.LittleEndian.PutUint64(told, uint64(int64(slot)))
	}
	s := e.newSchedule(d.local, choice.BcastBinomial)
	s.Recv.Mem = mem.Of(told)
	if err := e.wait(e.start(s, tag)); err != nil {
		return err
	}
	i := int(int64(binary.LittleEndian.Uint64(told)))
	if i != NoSlot {
		if !e.taken(i, c.Ctx) {
			return class.Errorf(class.Intern, "slot %d for context %#x", i, c.Ctx)
		}
		d.slot = new(slot.Slot)
		slot.Open(d.slot, d.slot, e.groupOf(d.local, &member{e: e, c: d.local, whole: c}, d), i)
	}
	d.agreed = true
	return nil
}

// AppendAbout implements proc.About: a member that waits in the slot reports the collective that
// the program has called, not the part of it that the slot carries out.
func (d *division) AppendAbout(b []byte) []byte {
	return d.whole.AppendOperation(b, d.kind.Number())
}

// Awaits implements proc.Awaiter.
func (d *division) Awaits() int32 { return d.whole.Awaits() }

// stages runs the schedule with leaders. If slotted, the members of the node do their part
// through the slot, and the schedule leaves that part out. If found, the error that this member
// has found before, says that roots differ or that a member refuses, the schedule tells the other members. It takes the
// lock.
func (e *Engine) stages(c *comm.Comm, k Kind, a *Args, tag int32, slotted bool, found error) error {
	e.p.Lock()
	defer e.p.Unlock()
	s := e.newSchedule(c, leading(k))
	s.Args, s.slotted = *a, slotted
	s.Send.Width, s.Recv.Width = 1, 1
	s.tell(a.Send.Code, a.Recv.Code)
	s.terms = stateOf(c).terms
	if rootsDiffer(found) || agree.IsRefusal(found) {
		s.found = found
	}
	return e.wait(e.start(s, tag))
}

// first returns err, or next if err is nil. An error in one stage does not keep a member from
// the next one, since other members wait in that one.
func first(err, next error) error {
	if err != nil {
		return err
	}
	return next
}

// throughNodes carries out a short collective with checked arguments through
// leaders. It takes the lock.
func (e *Engine) throughNodes(c *comm.Comm, d *division, k Kind, a *Args) error {
	e.p.Lock()
	tag, s, err := e.enter(c, d)
	if k.Rooted() {
		stateOf(c).terms.Name(k, a.Root)
	}
	if s != nil { // the members compare the roots of c, not the leader's ranks on the node
		s.Terms = stateOf(c).terms
		s.Terms.Tells = false
	}
	e.p.Unlock()
	if err != nil {
		return err
	}
	if s == nil {
		return e.stages(c, k, a, tag, false, nil)
	}
	d.kind = k
	down := func(buf mem.Mem, root int) error { // a bcast through the slot of the node
		code := a.Send.Code
		if k == Bcast {
			code = a.Recv.Code
		}
		if rootsDiffer(err) {
			code = slot.RootsDiffer
		}
		if r, ok := err.(*agree.Refusal); ok && root == d.local.Rank {
			s.MissPieces(root, r.Rank, r.Err.Class)
			return err
		}
		return s.Ended(s.Bcast(buf, code, root))
	}
	leads, home := d.leaders != nil, d.at[c.Rank] == d.at[a.Root]
	switch k {
	case Barrier:
		err = s.Ended(s.Reduce(nil, nil, 0, 0, 0, 0))
		if leads {
			err = first(err, e.stages(c, k, a, tag, true, err))
		}
		return first(err, down(mem.Mem{}, 0))
	case Bcast:
		root := 0 // the rank on the node
		if home {
			root = int(d.index[a.Root])
		} else if leads {
			err = e.stages(c, k, a, tag, true, err)
		}
		err = first(err, down(a.Recv.Mem, root))
		if c.Rank == a.Root {
			err = first(err, e.stages(c, k, a, tag, true, err))
		}
		return err
	case Allreduce:
		err = s.Ended(s.Reduce(flat(a.Send.Mem), flat(a.Recv.Mem), a.Op, a.Type, a.Send.Code, 0))
		if leads {
			err = first(err, e.stages(c, k, a, tag, true, err))
		}
		return first(err, down(a.Recv.Mem, 0))
	}
	// A Reduce. The leader gives the result of its node to the schedule.
	sum := *a
	if c.Rank != a.Root {
		sum.Recv = Slice(d.spare[:a.Send.Len()], a.Send.Code)
	}
	sum.Send = sum.Recv
	err = s.Ended(s.Reduce(flat(a.Send.Mem), flat(sum.Recv.Mem), a.Op, a.Type, a.Send.Code, 0))
	if leads {
		err = first(err, e.stages(c, k, &sum, tag, true, err))
	}
	if home && d.leader(int(d.at[a.Root])) != a.Root {
		err = first(err, down(sum.Recv.Mem, 0))
	}
	return err
}

// leading returns the algorithm with leaders of a kind.
func leading(k Kind) choice.Algorithm {
	switch k {
	case Barrier:
		return choice.BarrierLeaders
	case Bcast:
		return choice.BcastLeaders
	case Reduce:
		return choice.ReduceLeaders
	}
	return choice.AllreduceLeaders
}

// missAcross refuses a Reduce or Allreduce through leaders. The members of the node learn it
// through the slot, the other leaders by messages: see throughNodes. It takes the lock.
func (e *Engine) missAcross(c *comm.Comm, d *division, k Kind, root int, cl class.Class) {
	e.p.Lock()
	tag, s, err := e.enter(c, d)
	if err == nil {
		stateOf(c).terms.Refuse(k)
		e.tellRefusal(c, tag, cl)
	}
	e.p.Unlock()
	if err != nil || s == nil {
		return
	}
	if uint(root) >= uint(c.Size()) {
		root = 0
	}
	s.Miss(Reduce, 0, c.Rank, cl)
	if k == Allreduce || d.at[c.Rank] == d.at[root] && d.leader(int(d.at[root])) != root {
		s.MissPieces(0, c.Rank, cl)
	}
}
