package coll

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/p2p"
)

// DoPairs carries out an Alltoallw or NeighborAlltoallw. It takes the lock.
//
// The pairs are not part of Args: a schedule keeps its Args, so each call would move them to the
// heap.
func (e *Engine) DoPairs(c *comm.Comm, k Kind, p Pairs) error {
	o := &stateOf(c).busy
	if err := o.enter(k.Number()); err != nil {
		return err
	}
	defer o.leave()
	inPlace, err := p.Check(c, k)
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
	inPlace, err := p.Check(c, k)
	name := call.None
	if stateOf(c).checks {
		name = k.In(f)
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
