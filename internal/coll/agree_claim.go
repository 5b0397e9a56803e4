package coll

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/dtype"
)

// gives returns what this member sends to rank r; takes returns what it expects from rank r.
func (s *schedule) gives(r int) (x agree.Elements, any bool) {
	types, me := &s.agreement.types, s.c.Rank
	switch s.kind {
	case Barrier, NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw: // see along
		return x, false
	case Bcast:
		return agree.ElementsOf(s.Recv.Mem, s.Recv.Width, types[1]), me == s.Root && r != me
	case Gather, Gatherv:
		return agree.ElementsOf(s.Send.Mem, s.Send.Width, types[0]), r == s.Root
	case Scatter, Scatterv:
		if me != s.Root {
			return x, false
		}
	case Alltoallw:
		return agree.Elements{Type: s.pairs[0][r].Type, N: int64(s.pairs[0][r].Number)}, true
	case Alltoall, Alltoallv:
	default: // each member gives the same to all others
		return agree.ElementsOf(s.Send.Mem, s.Send.Width, types[0]), true
	}
	return agree.ElementsOf(s.sendBlock(r), s.Send.Width, types[0]), true
}

func (s *schedule) takes(r int) (x agree.Elements, any bool) {
	types, me := &s.agreement.types, s.c.Rank
	switch s.kind {
	case Barrier:
		return x, false
	case Bcast:
		return agree.ElementsOf(s.Recv.Mem, s.Recv.Width, types[1]), r == s.Root && r != me
	case Gather, Gatherv:
		if me != s.Root {
			return x, false
		}
	case Scatter, Scatterv:
		return agree.ElementsOf(s.Recv.Mem, s.Recv.Width, types[1]), r == s.Root
	case Alltoallw:
		return agree.Elements{Type: s.pairs[1][r].Type, N: int64(s.pairs[1][r].Number)}, true
	case Reduce, Allreduce, Scan, Exscan, ReduceScatter, ReduceScatterBlock: // all operands are alike
		return agree.ElementsOf(s.Send.Mem, s.Send.Width, types[0]), true
	}
	return agree.ElementsOf(s.recvBlock(r), s.Recv.Width, types[1]), true
}

// sends returns what this member says that it will send to rank r. The operands of a predefined
// operation are compared by their op.Type, which stands for the datatype.
func (s *schedule) sends(r int) (c agree.Claim) {
	x, any := s.gives(r)
	switch {
	case s.kind.Neighborhood():
		c, _, _ = s.along(0, r)
	case !any:
	case s.operands():
		n := int64(s.Send.Len() / s.Width)
		c = agree.Claim{Signature: dtype.Signature{Elements: n, Bytes: int64(s.Send.Len()), Hash: uint64(s.Type)}, Text: fmt.Sprintf("%d x %v", n, s.Type)}
	default:
		c = agree.Claim{Signature: x.Signature(), Text: x.String()}
	}
	return c
}

// operands reports whether operands of a predefined operation are sent.
func (s *schedule) operands() bool { return s.kind.Reduces() && s.User == nil }

// operation describes the operation of a reduction.
func (s *schedule) operation() string {
	switch {
	case s.User == nil:
		return s.Op.String()
	case s.User.Commutes:
		return "an operation of the program that commutes"
	}
	return "an operation of the program that does not commute"
}

// expects returns what this member expects from rank r, false if nothing is to be compared.
func (s *schedule) expects(r int) (x agree.Expected, any bool) {
	if s.kind.Neighborhood() {
		all, like, edges := s.along(1, r)
		if edges == 0 {
			all.Text = "nothing"
		}
		return agree.Expected{Claim: all, Like: like}, true
	}
	want, any := s.takes(r)
	switch {
	case !any:
		return x, false
	case s.kind.Reduces():
		x = agree.Expected{Claim: s.sends(r), Like: want, Gives: true}
		if s.operands() {
			x.Like = agree.Elements{} // only the types of the operands are compared
		}
		return x, true
	}
	return agree.Expected{Claim: agree.Claim{Signature: want.Signature()}, Like: want}, true
}

// judge compares what the other members tell with what this member calls and expects.
func (s *schedule) judge() *agree.Finding {
	told := make([]agree.Record, s.c.Size())
	for r := range told {
		told[r].Decode(s.agreement.heard[r*agree.RecordSize:])
	}
	return agree.Judge(s.kind, s.c.Rank, told, s.expects)
}
