package coll

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Pairs describes what a member of an Alltoallw sends to and receives from each rank, and that of a
// NeighborAlltoallw to and from each neighbour.
type Pairs struct {
	Sends, Receives int // the numbers of sides that the member has given
	// At returns the sides for a rank, or for the neighbours of a number; a side that was not
	// given is empty. The engine calls it only until the call with these Pairs returns.
	At func(r int) (send, recv Side)
}

// check validates what this member can see of the arguments of an Alltoallw, and reports whether
// it is in place: either all non-empty blocks are in place, or none.
func (p Pairs) check(c *comm.Comm, k Kind) (inPlace bool, err error) {
	if k == NeighborAlltoallw {
		return false, p.checkNeighbors(c)
	}
	if n := c.Size(); p.Sends != n || p.Receives != n {
		return false, class.Errorf(class.Count, "%d send and %d receive buffers for %d members", p.Sends, p.Receives, n)
	}
	there, elsewhere := 0, 0
	for r := range c.Size() {
		from, to := p.At(r)
		if err := cmp.Or(from.Err(), to.Err()); err != nil {
			return false, err
		}
		if err := to.receives(); err != nil {
			return false, err
		}
		if c.Inter != nil {
			if err := from.separate(&to); err != nil {
				return false, err
			}
			continue
		}
		switch {
		case r == c.Rank && from.Len() != to.Len():
			return false, class.Errorf(class.Count, "rank %d sends itself %d bytes and receives %d", r, from.Len(), to.Len())
		case from.Len() == 0 || to.Len() == 0:
		case from.Len() == to.Len() && mem.Same(from.Mem, to.Mem) && mem.Alike(from.Mem, to.Mem):
			there++
		case mem.Same(from.Mem, to.Mem) || mem.Overlap(flat(from.Mem), flat(to.Mem)):
			return false, class.Errorf(class.Buffer, "what is sent to rank %d overlaps in part what is received from it", r)
		default:
			elsewhere++
		}
		if there > 0 && elsewhere > 0 {
			return false, class.Errorf(class.Buffer, "some blocks are in place, and that of rank %d or another is not", r)
		}
	}
	return there > 0, nil
}

// DoPairs carries out an Alltoallw or NeighborAlltoallw. It takes the lock.
//
// The pairs are not part of Args: a schedule keeps its Args, so each call would move them to the
// heap.
func (e *Engine) DoPairs(c *comm.Comm, k Kind, p Pairs) error {
	o := &stateOf(c).busy
	if err := o.enter(CallOf(k, Blocking)); err != nil {
		return err
	}
	defer o.leave()
	inPlace, err := p.check(c, k)
	if err != nil {
		return e.refuse(c, k, &Args{}, err)
	}
	if k == NeighborAlltoallw {
		if s := e.short(c, k, 0); s != nil {
			x := e.amongNeighbors(c, k)
			x.pairNeighbors(p)
			if done, err := x.throughSlot(s); done {
				return err
			}
		}
	}
	e.p.Lock()
	defer e.p.Unlock()
	return e.wait(e.beginPairs(c, k, p, inPlace, call.None))
}

// StartPairs is Start for an Alltoallw or NeighborAlltoallw.
func (e *Engine) StartPairs(c *comm.Comm, k Kind, f Form, p Pairs) (*p2p.Request, error) {
	inPlace, err := p.check(c, k)
	name := call.None
	if stateOf(c).checks {
		name = CallOf(k, f).Number()
	}
	switch {
	case f == Persistent && err == nil:
		s := &schedule{e: e}
		s.pair(c, k, p, inPlace, name)
		return e.persistent(s), nil
	case f == Persistent:
		e.initRefusing(c, err)
		return nil, err
	case err != nil:
		return e.startRefusing(c, k, &Args{}, name, err)
	}
	return e.beginPairs(c, k, p, inPlace, name), nil
}

// beginPairs starts a collective of Pairs whose arguments have been checked.
func (e *Engine) beginPairs(c *comm.Comm, k Kind, p Pairs, inPlace bool, by call.Number) *p2p.Request {
	s := e.fresh()
	s.pair(c, k, p, inPlace, by)
	s.agreeOn(false)
	return e.start(s, nextTag(c))
}

// pair fills in s for a collective of Pairs; by is the call unless None.
func (s *schedule) pair(c *comm.Comm, k Kind, p Pairs, inPlace bool, by call.Number) {
	s.c, s.kind, s.inPlace, s.Call = c, k, inPlace, by
	if k == NeighborAlltoallw {
		s.pairNeighbors(p)
		return
	}
	sizes := s.offsets[1][:0]
	for r := range c.Size() {
		send, recv := p.At(r)
		s.pairs[0] = append(s.pairs[0], send)
		s.pairs[1] = append(s.pairs[1], recv)
		sizes = append(sizes, send.Len())
	}
	s.offsets[1] = sizes
	s.SendCounts = sizes
	s.pack()
	if c.Inter != nil {
		s.cross()
		return
	}
	s.step = stepOf(s.e.choice.Algorithm(Alltoallw, unknown, stateOf(c).where, false))
	s.e.putAgreement(s, nil, nil)
}

// pairNeighbors is pair for a NeighborAlltoallw.
func (s *schedule) pairNeighbors(p Pairs) {
	s.neighbors = s.c.Neighbors
	for i := range max(p.Sends, p.Receives) {
		send, recv := p.At(i)
		if i < p.Sends {
			s.pairs[0] = append(s.pairs[0], send)
		}
		if i < p.Receives {
			s.pairs[1] = append(s.pairs[1], recv)
		}
	}
	s.step = neighborDirect
	s.e.putAgreement(s, nil, nil)
}
