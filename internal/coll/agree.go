package coll

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
)

// agreement is, with HALO_CHECK=1, what the members of a collective exchange before it begins.
//
// In the first round each member tells each other member what it calls, and what it will send to
// that member. The receiver compares this with its own call and with what it expects. Only the
// receiver can compare, since the comparison needs the elements of both sides. In the second
// round each member tells all others what it has found. So all members come to the same result:
// if a member has found an error, the collective ends at all members with the finding of the
// lowest rank; else the collective begins. A member whose own arguments are wrong takes part to
// say so. When the collective ends this way, no data has moved, no member waits for another one,
// and the communicator remains usable.
//
// Both rounds belong to the schedule of the collective, so that members that call different
// collectives exchange these messages, too. The exception is a persistent collective: its
// messages carry its own tag, so a member that starts it exchanges them only with members that
// start the same one.
type agreement struct {
	step  func(s *schedule) bool // the algorithm of the collective
	call  call.Number            // the name of the call
	at    string                 // its place, as in callsite.Locator.Portable
	types [2]*dtype.Type         // of the elements of send and recv; nil stands for bytes
	own   error                  // the error in the member's own arguments

	said, heard []byte // records, then findings, by rank
}

// Check makes the process check collectives. A communicator is checked if all its members check:
// checkers tells, by process, which ones do. Check is called before communicators are attached.
func (e *Engine) Check(checkers []bool) { e.checkers = checkers }

// Locate makes reports of checking mode say where calls are, by l. The caller holds the lock.
func (e *Engine) Locate(l callsite.Locator) { e.locator = l }

// Learn sets the function by which a process in checking mode finds out which of some processes
// check that it has not met in Init. It sets their entries in the argument of Check. It is called
// without the lock.
func (e *Engine) Learn(learner func(members []int32) error) { e.learner = learner }

func (e *Engine) learn(members []int32) error {
	if e.learner == nil {
		return nil
	}
	return e.learner(members)
}

// Checks reports whether collectives of c are checked.
func (e *Engine) Checks(c *comm.Comm) bool { return stateOf(c).checks }

// checks reports whether all the given processes check, and are more than one.
func (e *Engine) checks(members []int32) bool {
	for _, m := range members {
		if !e.checkers.Has(int(m)) {
			return false
		}
	}
	return len(members) > 1
}

// putAgreement makes s, whose arguments are filled in, begin with an agreement in checking mode.
func (e *Engine) putAgreement(s *schedule, send, recv *dtype.Type) {
	if !stateOf(s.c).checks {
		return
	}
	g := &agreement{step: s.step, call: s.Call, types: [2]*dtype.Type{send, recv}}
	if g.call == call.None {
		g.call = s.kind.Number()
	}
	s.agreement = g
	s.locate()
}

// locate notes where the program calls the collective, or starts it again.
func (s *schedule) locate() {
	at := s.e.locator.Current()
	s.agreement.at = s.e.locator.Portable(&at)
}

// typeOf returns the type of the elements of a side, nil for bytes.
func typeOf(x *Side, slice *dtype.Type) *dtype.Type {
	if x.IsBuffer {
		return x.Type
	}
	return slice
}

// LastBarrier is the Barrier before a process ends. It runs on last, a communicator without
// other use. In checking mode it is instead a call on the world, which is claimed for call.Finalize:
// members may disagree about it as about any other call. Outside of checking mode the Barrier
// compares the roots that members have named on the world, in collectives by slot and by messages.
func (e *Engine) LastBarrier(world, last *comm.Comm) error {
	if stateOf(world).checks {
		return e.do(world, Barrier, &Args{Call: call.Finalize})
	}
	w, t := stateOf(world), &stateOf(last).terms
	// The error is to name the last root: that of the slot if a collective by slot has named one since
	// the last Barrier.
	*t = w.terms
	switch {
	case w.slot.SlotState == nil:
	case w.slot.Terms.Fresh:
		*t = w.slot.Terms.With(w.terms)
	default:
		*t = w.terms.With(w.slot.Terms)
	}
	err := e.Barrier(last)
	if rootsDiffer(err) { // all members get this error: the next call succeeds
		w.terms = e.newTerms()
		if w.slot.SlotState != nil {
			w.slot.Terms = e.newTerms()
		}
	}
	return err
}

// agreeing is the algorithm of a schedule with an agreement: two rounds for the agreement, then,
// if no member has found an error, the algorithm of the collective.
func agreeing(s *schedule) bool {
	g, n, me := s.agreement, s.c.Size(), s.c.Rank
	exchange := func(size int) {
		for i := 1; i < n; i++ {
			to, from := (me+i)%n, (me-i+n)%n
			s.sendTo(to, mem.Of(g.said[to*size:(to+1)*size]))
			s.recvFrom(from, mem.Of(g.heard[from*size:(from+1)*size]))
		}
	}
	switch s.round {
	case 0:
		g.said, g.heard = make([]byte, n*agree.RecordSize), make([]byte, n*agree.RecordSize)
		for r := range n {
			s.record(r).Encode(g.said[r*agree.RecordSize:])
		}
		copy(g.heard[me*agree.RecordSize:(me+1)*agree.RecordSize], g.said[me*agree.RecordSize:])
		exchange(agree.RecordSize)
		return true
	case 1:
		f := s.judge()
		g.said, g.heard = make([]byte, n*agree.FindingSize), make([]byte, n*agree.FindingSize)
		for r := range n {
			f.Encode(g.said[r*agree.FindingSize:])
		}
		copy(g.heard[me*agree.FindingSize:(me+1)*agree.FindingSize], g.said)
		exchange(agree.FindingSize)
		return true
	}
	for r := range n {
		var f agree.Finding
		f.Decode(g.heard[r*agree.FindingSize:])
		if f.Class != 0 {
			s.note(&class.Error{Class: agree.ClassOf(f.Class), Text: callsite.Printable(agree.Text(f.Text[:]))})
			break
		}
	}
	g.said, g.heard = nil, nil
	switch {
	case s.err != nil:
		return false
	case s.empty:
		s.alone(s.kind)
		return false
	}
	s.round, s.step = 0, g.step
	return s.step(s)
}

func put(b []byte, v any) {
	if _, err := binary.Encode(b, binary.LittleEndian, v); err != nil {
		panic("coll: " + err.Error()) // a type without a fixed size
	}
}

func get(b []byte, v any) {
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		panic("coll: " + err.Error())
	}
}

// record returns what this member tells rank r.
func (s *schedule) record(r int) *agree.Record {
	g := s.agreement
	x := &agree.Record{Kind: uint8(s.kind), Root: int32(s.Root)}
	copy(x.Call[:], g.call.Go())
	copy(x.At[:], g.at)
	if g.own != nil {
		x.Class = uint32(class.Intern)
		if e, ok := g.own.(*class.Error); ok {
			x.Class = uint32(e.Class)
		}
		copy(x.Detail[:], g.own.Error())
		return x
	}
	if s.kind.Reduces() {
		copy(x.Op[:], s.operation())
	}
	if s.kind == ReduceScatter {
		list := fmt.Sprint(s.SendCounts)
		h := fnv.New64a()
		h.Write([]byte(list))
		x.Counts = h.Sum64()
		copy(x.Detail[:], list)
	}
	c := s.sends(r)
	x.Elements, x.Bytes, x.Hash = c.Elements, c.Bytes, c.Hash
	if c.Raw {
		x.Raw = 1
	}
	copy(x.Text[:], c.Text)
	return x
}
