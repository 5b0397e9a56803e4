package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Outside of checking mode a member sends, with its data, the dtype.Code of its elements: in the
// header of each message, and in its cell of a slot. The receiver compares the code with that of
// its own elements; if they differ, the collective has the error ErrType there. The collective
// goes on to its end, as with data of the wrong length, so that no member waits. A member with
// an error does not pass data on, and tells the members that were to receive the data.

// tell notes the codes of the elements that the schedule sends and receives. A member that
// passes on data of other members uses the code of its own side: of what it sends, or else
// receives.
func (s *schedule) tell(send, recv dtype.Code) {
	passes := s.c.Inter == nil && s.c.Rank != s.Root
	switch {
	case s.kind == Bcast, (s.kind == Scatter || s.kind == Scatterv) && passes:
		send = recv
	case s.kind.Reduces(), (s.kind == Gather || s.kind == Gatherv) && passes:
		recv = send
	}
	s.codes = [2]dtype.Code{send, recv}
}

// codeFor returns the code of the elements that are sent to a rank (side 0), or received from it
// (1).
func (s *schedule) codeFor(side, rank int) dtype.Code {
	switch {
	case s.agreement != nil: // the agreement compares types; after an error there may be no pairs
		return dtype.Mixed
	case s.kind == Alltoallw:
		return s.pairs[side][rank].Code
	}
	return s.codes[side]
}

// rootsDiffer reports whether an error says that members name different roots.
func rootsDiffer(err error) bool {
	e, ok := err.(*class.Error)
	return ok && e.Class == class.Root
}

// verdict returns the code of the empty message that a member sends in place of data when it has
// found an error.
func verdict(err error) dtype.Code {
	if e, ok := err.(*class.Error); ok {
		switch e.Class {
		case class.Type:
			return p2p.TypesDiffer
		case class.Root:
			return p2p.RootsDiffer
		}
	}
	return dtype.Mixed
}

// newTerms returns the terms of a new communicator.
func (e *Engine) newTerms() agree.Terms { return agree.NewTerms(e.tells) }

// agreeOn gives s the terms of the communicator, in which s names its root. A persistent
// schedule gets terms of its own, since it may be started in any order. Members of an
// intercommunicator name roots in different ways, so these are not compared.
func (s *schedule) agreeOn(persistent bool) {
	if !s.e.tells || s.c.Inter != nil {
		return
	}
	t := &stateOf(s.c).terms
	if persistent {
		fresh := s.e.newTerms()
		t = &fresh
	}
	if s.kind.Rooted() {
		t.Name(s.kind, s.Root)
	}
	s.terms = *t
}

// otherRoots returns the error of a rank that tells other roots.
func (s *schedule) otherRoots(rank int, roots uint16) error {
	t := &s.terms
	return t.Compare(rank, uint32(roots)<<16, s.c.Rank, uint32(t.Roots)<<16, s.c.Size())
}
