package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Outside of checking mode a member tells with its data what its elements are, by a dtype.Code:
// in the header of each message, and in its cell of a slot. Who receives compares that with what
// it receives, and the collective is ErrType there. It goes on to its end, as with data of the
// wrong length, so that nobody waits; what would be passed on is not, and whoever was to get it
// is told so.

// tell notes the codes of what the schedule sends and receives. A member that passes on
// what is another one's has the code of its own side: of what it gives, or else gets.
func (s *schedule) tell(send, recv dtype.Code) {
	passes := s.c.Inter == nil && s.c.Rank != s.Root
	switch {
	case s.kind == Bcast, (s.kind == Scatter || s.kind == Scatterv) && passes:
		send = recv
	case s.kind.reduces(), (s.kind == Gather || s.kind == Gatherv) && passes:
		recv = send
	}
	s.codes = [2]dtype.Code{send, recv}
}

// codeFor is the code of what goes to a rank (side 0), or comes from it (1).
func (s *schedule) codeFor(side, rank int) dtype.Code {
	switch {
	case s.agreement != nil: // says more, and of an error perhaps has no pairs
		return dtype.Mixed
	case s.kind == Alltoallw:
		return s.pairs[side][rank].Code
	}
	return s.codes[side]
}

// rootsDiffer reports whether an error is that members name different roots.
func rootsDiffer(err error) bool {
	e, ok := err.(*class.Error)
	return ok && e.Class == class.Root
}

// verdict is the code of the empty message that a member sends in place of data when it has
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
