package coll

import (
	"fmt"
	"slices"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/p2p"
)

// A member whose own arguments of a collective are wrong refuses it: it returns the error at once,
// takes no part, and tells the others, so that those that depend on it get the error, too. The
// communicator remains usable. This costs a collective without errors nothing.
//
//   - A schedule is identified by its tag. The member tells each other one by an empty message with
//     that tag (p2p.Refuses), and discards all messages with the tag. Another member then neither
//     sends to it nor receives from it in this schedule, and goes through all rounds with the error,
//     as after a message of the wrong length: so it needs to know neither the algorithm nor the
//     lengths of the others.
//   - In a slot the member marks its cell: see slot.Slot.Miss.
//
// Members that do not depend on it, such as the root of a Bcast, may succeed.
//
// A member knows from its own arguments whether the others use a slot; if they tell no length, it
// takes it for short. Where the lengths that members give lie on different sides of a limit
// (slot.Max), with wrong arguments or without, some of them may wait for ever: only checking mode
// finds that.
//
// Rejected: to let the refused collective run with empty messages, as a member does that finds
// an error on the way. Which messages the others expect depends on lengths that the arguments do
// not tell.

// newRefusal returns the error of a member that depends on one, of a rank, that has refused the collective. c is the
// communicator of the call, or a part of it.
func newRefusal(c *comm.Comm, rank int, cl class.Class) *agree.Refusal {
	return agree.NewRefusal(nameOf(c, rank), rank, cl)
}

// nameOf returns how errors name a rank of the whole communicator.
func nameOf(c *comm.Comm, rank int) string {
	for c.Within != nil {
		c = c.Within
	}
	if c.Inter != nil {
		if _, remote := c.Sides([]int{rank}); len(remote) > 0 {
			return fmt.Sprintf("rank %d of the remote group", remote[0])
		}
		local, _ := c.Sides([]int{rank})
		rank = local[0]
	}
	return fmt.Sprintf("rank %d", rank)
}

// refuse ends a blocking collective whose arguments are wrong, and tells the other members. It
// takes the lock.
func (e *Engine) refuse(c *comm.Comm, k Kind, a *Args, err error) error {
	st := stateOf(c)
	if st.checks {
		e.p.Lock()
		defer e.p.Unlock()
		r, _ := e.startRefusing(c, k, a, call.None, err)
		return e.wait(r)
	}
	if k.Neighborhood() {
		if s := e.short(c, k, 0); s != nil {
			s.Miss(k, 0, c.Rank, classFor(err)) // the others fail in the first step
			return err
		}
	}
	switch size := a.Presumed(k); {
	case size == 0 || a.User != nil && k.Reduces():
	case k == Bcast || k == Reduce || k == Allreduce || k == Allgather || k == Alltoall:
		if s := e.short(c, k, size); s != nil {
			s.Terms.Refuse(k)
			s.Miss(k, a.Root, c.Rank, classFor(err))
			return err
		}
		if k != Reduce && k != Allreduce {
			break
		}
		if d := e.across(c, k, size); d != nil {
			e.missAcross(c, d, k, a.Root, classFor(err))
			return err
		}
	}
	e.p.Lock()
	defer e.p.Unlock()
	_, _ = e.startRefusing(c, k, a, call.None, err)
	return err
}

// startRefusing is refuse for a nonblocking collective, whose name is call. Outside of checking
// mode it returns no request. The lock is held.
func (e *Engine) startRefusing(c *comm.Comm, k Kind, a *Args, by call.Number, err error) (*p2p.Request, error) {
	st := stateOf(c)
	if st.checks {
		s := e.fresh()
		s.c, s.kind, s.Call = c, k, by
		e.putAgreement(s, nil, nil)
		s.agreement.own = err
		return e.start(s, nextTag(c)), nil
	}
	if c.Inter == nil {
		st.terms.Refuse(k)
	}
	e.tellRefusal(c, nextTag(c), classFor(err))
	return nil, err
}

// initRefusing refuses a persistent collective: the other members learn it when they start
// theirs. The lock is held.
func (e *Engine) initRefusing(c *comm.Comm, err error) {
	st := stateOf(c.Whole())
	st.inits = (st.inits + 1) & 0x7fffffff
	e.tellRefusal(c, -st.inits, classFor(err))
}

// tellRefusal tells the other members of c that this one takes no part in the schedule of a tag.
// The lock is held.
func (e *Engine) tellRefusal(c *comm.Comm, tag int32, cl class.Class) {
	whole := c.Whole()
	e.p2p.Shun(c.Ctx+1, tag)
	for r := range whole.Size() {
		if r == whole.Rank {
			continue
		}
		v := p2p.Envelope{Comm: whole, Ctx: c.Ctx + 1, Peer: r, Tag: tag}
		v.Refuse(&p2p.Refusal{Rank: whole.Rank, Class: cl, Own: true})
		e.p2p.Release(e.p2p.Isend(&v, Side{}.Mem))
	}
}

// classFor returns the class of an error.
func classFor(err error) class.Class {
	if e, ok := err.(*class.Error); ok {
		return e.Class
	}
	return class.Other
}

// keptRefusals is how many refused persistent collectives a process remembers for a communicator.
const keptRefusals = 1 << 12

// refused handles a message that says that its sender takes no part in a schedule, and that no
// receive is posted for. It reports false if the schedule has not begun: then its receives find the
// message. The lock is held.
func (e *Engine) refused(from int32, ctx uint64, tag int32, f *p2p.Refusal) bool {
	whole := e.comms[ctx-1].Value()
	if whole == nil || whole.RankOf(from) < 0 {
		return false
	}
	st := stateOf(whole)
	err := newRefusal(whole, whole.RankOf(from), f.Class)
	if tag < 0 && !st.remember(tag, from, err) {
		return false
	}
	for _, s := range e.live {
		if s.tag == tag && s.c.Ctx+1 == ctx {
			s.lose(from, err)
			return true
		}
	}
	if d := st.division; d != nil && d.tag == tag {
		return false // the leaders begin the schedule behind the stage on the node
	}
	return tag < 0 || (st.number-tag)&0x7fffffff < 1<<30
}

// persistentRefusal says that a process takes no part in a persistent collective.
type persistentRefusal struct {
	from int32
	err  *agree.Refusal
}

// remember keeps a refusal of the persistent collective of a tag, unless there are too many.
func (st *state) remember(tag, from int32, err *agree.Refusal) bool {
	if st.refusals == nil {
		st.refusals = make(map[int32][]persistentRefusal)
	}
	if len(st.refusals) >= keptRefusals {
		return false
	}
	st.refusals[tag] = append(st.refusals[tag], persistentRefusal{from, err})
	return true
}

// recall applies the refusals of a persistent schedule, which begins.
func (s *schedule) recall() {
	for _, f := range stateOf(s.c.Whole()).refusals[s.tag] {
		s.absent = append(s.absent, f.from)
		s.note(f.err)
	}
}

// lose ends what s expects from a process that takes no part in it.
func (s *schedule) lose(process int32, err error) {
	if s.lacks(process) {
		return
	}
	s.absent = append(s.absent, process)
	s.note(err)
	s.pending++ // keeps the round incomplete during the loop
	for _, q := range s.parts {
		if q.r.Gen.Load() == q.gen && !q.r.Send && !q.r.Done() && q.r.From() == process {
			s.e.p2p.Cancel(q.r)
		}
	}
	s.pending--
	if s.pending == 0 {
		s.e.setReady(s)
	}
}

// lacks reports whether a process takes no part in s.
func (s *schedule) lacks(process int32) bool {
	return s.absent != nil && slices.Contains(s.absent, process)
}

// told converts what a message of a process tells to the error of s.
func (s *schedule) told(from int32, f *p2p.Refusal) error {
	c := s.c
	if s.whole != nil {
		c = s.whole
	}
	for c.Within != nil {
		c = c.Within
	}
	whole := c.Whole()
	switch {
	case f.Own:
		err := newRefusal(c, whole.RankOf(from), f.Class)
		if s.persistent {
			stateOf(whole).remember(s.tag, from, err)
		}
		s.lose(from, err)
		return err
	case f.Rank >= whole.Size():
		return class.Errorf(class.Intern, "rank %d takes no part in a collective of %d", f.Rank, whole.Size())
	}
	return newRefusal(c, f.Rank, f.Class)
}
