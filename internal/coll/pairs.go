package coll

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/mem"
	"github.com/halo-mpi/halo/internal/p2p"
)

// Pairs is what a member of an Alltoallw sends to rank r, and receives from it. It is
// called only before what it is given to returns.
type Pairs func(r int) (send, recv Side)

// check validates what this member can see of the arguments of an Alltoallw, and
// reports whether it is in place: as for others either all of it is, or nothing.
func (p Pairs) check(c *comm.Comm) (inPlace bool, err error) {
	there, elsewhere := 0, 0
	for r := range c.Size() {
		from, to := p(r)
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
			return false, wrong(class.Count, "rank %d sends itself %d bytes and receives %d", r, from.Len(), to.Len())
		case from.Len() == 0 || to.Len() == 0:
		case from.Len() == to.Len() && mem.Same(from.Mem, to.Mem) && mem.Alike(from.Mem, to.Mem):
			there++
		case mem.Same(from.Mem, to.Mem) || mem.Overlap(flat(from.Mem), flat(to.Mem)):
			return false, wrong(class.Buffer, "what is sent to rank %d overlaps in part what is received from it", r)
		default:
			elsewhere++
		}
		if there > 0 && elsewhere > 0 {
			return false, wrong(class.Buffer, "some blocks are in place, and that of rank %d or another is not", r)
		}
	}
	return there > 0, nil
}

// DoPairs carries out an Alltoallw. It takes the lock.
func (e *Engine) DoPairs(c *comm.Comm, p Pairs) error {
	o := &stateOf(c).busy
	if err := o.enter(Blocking(Alltoallw)); err != nil {
		return err
	}
	defer o.leave()
	inPlace, err := p.check(c)
	if err != nil {
		return e.refuse(c, Alltoallw, err)
	}
	e.p.Lock()
	defer e.p.Unlock()
	s := e.fresh()
	e.pair(s, c, p, inPlace)
	s.agreeOn(false)
	return e.wait(e.start(s, nextTag(c)))
}

// StartPairs starts an Alltoallw and returns its request.
func (e *Engine) StartPairs(c *comm.Comm, p Pairs) (*p2p.Request, error) {
	inPlace, err := p.check(c)
	if err != nil {
		return e.StartRefusing(c, Alltoallw, "", err)
	}
	s := e.fresh()
	e.pair(s, c, p, inPlace)
	s.agreeOn(false)
	return e.start(s, nextTag(c)), nil
}

// InitPairs returns the request of a persistent Alltoallw, inactive.
func (e *Engine) InitPairs(c *comm.Comm, p Pairs) (*p2p.Request, error) {
	inPlace, err := p.check(c)
	if err != nil {
		return nil, err
	}
	s := &schedule{e: e}
	e.pair(s, c, p, inPlace)
	return e.persistent(s), nil
}

// pair gives s an Alltoallw to do.
func (e *Engine) pair(s *schedule, c *comm.Comm, p Pairs, inPlace bool) {
	s.c, s.kind, s.inPlace = c, Alltoallw, inPlace
	sizes := s.offsets[1][:0]
	for r := range c.Size() {
		send, recv := p(r)
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
	s.step = e.choice.algorithm(Alltoallw, unknown, stateOf(c).where, false).entry().step
	e.putAgreement(s, nil, nil)
}
