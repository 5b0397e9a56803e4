package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/coll/agree"
	"github.com/halo-mpi/halo/internal/coll/args"
	"github.com/halo-mpi/halo/internal/coll/slot"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/planted"
)

// neighborDirect receives from all sources and sends to all destinations at once. All receives are
// started: with only some of them, members whose lists are in different orders could wait for each
// other in a circle.
//
// All messages have the same tag, so the receives from one member match its sends in order. In a
// graph several edges between two members are in the same order in the lists of both. In a grid
// the receives are started in the order in which their blocks are sent: see comm.Neighbors.Arrival.
// Empty blocks are not sent.
func neighborDirect(s *schedule) bool {
	n, me := s.neighbors, s.c.Rank
	for k := range n.Sources {
		i := n.Arrival(k)
		if planted.EdgesBackwards && !n.Grid {
			i = len(n.Sources) - 1 - k
		}
		if r := n.Sources[i]; r >= 0 && r != me {
			if b := s.blockFrom(i); b.Len() > 0 {
				s.recvCoded(r, b, s.edgeCode(1, i))
			}
		}
	}
	for i, r := range n.Dests {
		if r >= 0 && r != me {
			if b := s.blockTo(i); b.Len() > 0 {
				s.sendCoded(r, b, s.edgeCode(0, i))
			}
		}
	}
	s.ownEdges(s.copy)
	return false
}

// divide divides what the member sends and receives into blocks, if these have equal lengths.
func (s *schedule) divide() {
	s.each[0] = s.Send.Len() / max(1, len(s.neighbors.Dests))
	s.each[1] = s.Recv.Len() / max(1, len(s.neighbors.Sources))
}

// blockTo returns the block for the i-th destination.
func (s *schedule) blockTo(i int) mem.Mem {
	switch s.kind {
	case NeighborAllgather, NeighborAllgatherv:
		return s.Send.Mem
	case NeighborAlltoallw:
		return s.pairs[0][i].Mem
	}
	return args.Block(s.Send.Mem, i, s.each[0], s.Send.Width, s.SendCounts, s.SendDispls)
}

// blockFrom returns the block of the i-th source.
func (s *schedule) blockFrom(i int) mem.Mem {
	if s.kind == NeighborAlltoallw {
		return s.pairs[1][i].Mem
	}
	return args.Block(s.Recv.Mem, i, s.each[1], s.Recv.Width, s.RecvCounts, s.RecvDispls)
}

// edgeCode returns the code of the elements of the i-th block that is sent (side 0) or received (1).
func (s *schedule) edgeCode(side, i int) dtype.Code {
	switch {
	case s.agreement != nil:
		return dtype.Mixed
	case s.kind == NeighborAlltoallw:
		return s.pairs[side][i].Code
	}
	return s.codes[side]
}

// ownEdges calls do for each edge from the member to itself, with the block that is received and the
// one that is sent. Both lists have as many of them: see neighborsOf.
func (s *schedule) ownEdges(do func(dst, src mem.Mem)) {
	me := s.c.Rank
	s.neighbors.Own(me, func(to, from int) {
		dst, src := s.blockFrom(from), s.blockTo(to)
		if dst.Len() != src.Len() {
			s.note(class.Errorf(class.Count, "rank %d sends itself %d bytes and receives %d", me, src.Len(), dst.Len()))
			return
		}
		do(dst, src)
	})
}

// amongNeighbors returns where the caller puts the arguments of a neighbourhood collective of a kind through the slot
// of c.
func (e *Engine) amongNeighbors(c *comm.Comm, k Kind) *schedule {
	st := stateOf(c)
	if st.blocks == nil {
		st.blocks = &schedule{e: e}
	}
	x := st.blocks
	x.c, x.kind, x.neighbors = c, k, c.Neighbors
	return x
}

// throughSlot carries out the collective x, which amongNeighbors has returned. If it returns false it has moved nothing,
// at all members, and they have to use messages.
func (x *schedule) throughSlot(s *slot.Slot) (done bool, err error) {
	x.divide()
	g := s.AmongNeighbors(x.kind, x.neighbors)
	if x.kind == NeighborAlltoallw {
		g.To, g.From = slot.Blocks{Sides: x.pairs[0]}, slot.Blocks{Sides: x.pairs[1]}
	} else {
		same := x.kind == NeighborAllgather || x.kind == NeighborAllgatherv
		g.To = slot.Blocks{All: x.Send.Mem, Code: x.codes[0], Same: same, Each: x.each[0], Width: x.Send.Width, Counts: x.SendCounts, Displs: x.SendDispls}
		g.From = slot.Blocks{All: x.Recv.Mem, Code: x.codes[1], Each: x.each[1], Width: x.Recv.Width, Counts: x.RecvCounts, Displs: x.RecvDispls}
	}
	done, err = s.ExchangeNeighbors(g)
	x.Args, x.err = Args{}, nil
	for i := range x.pairs {
		clear(x.pairs[i])
		x.pairs[i] = x.pairs[i][:0]
	}
	return done, err
}

// along returns what the member sends to rank r (side 0), or expects from it (1), along all edges
// between the two, in their order. like is as many elements of their type, if all have the same.
func (s *schedule) along(side, r int) (all agree.Claim, like agree.Elements, edges int) {
	n := s.neighbors
	if n == nil { // the member has refused the call
		return agree.Claim{}, agree.Elements{}, 0
	}
	list := n.Dests
	if side == 1 {
		list = n.Sources
	}
	for k := range list {
		i, x := k, agree.Elements{}
		if side == 1 {
			i = n.Arrival(k)
		}
		if list[i] != r {
			continue
		}
		switch {
		case s.kind == NeighborAlltoallw:
			p := &s.pairs[side][i]
			x = agree.Elements{Type: p.Type, N: int64(p.Number)}
		case side == 0:
			x = agree.ElementsOf(s.blockTo(i), s.Send.Width, s.agreement.types[0])
		default:
			x = agree.ElementsOf(s.blockFrom(i), s.Recv.Width, s.agreement.types[1])
		}
		edges++
		switch {
		case edges == 1:
			like, all.Text = x, x.String()
		case like.Type == x.Type:
			like.N, all.Text = like.N+x.N, all.Text+" and "+x.String()
		default:
			like, all.Text = agree.Elements{}, all.Text+" and "+x.String()
		}
		all.Signature = all.Then(x.Signature())
	}
	return all, like, edges
}
