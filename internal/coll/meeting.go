package coll

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
)

// What a group needs to meet another one (package meet): collectives that are parts of one call, and
// the intercommunicator in the end.

// Among runs fn, which is the part of this member in a call on c that is collective over it. fn uses
// Tell and Collect. A member that is alone needs no others, so several threads may make such calls on one
// communicator at the same time.
func (e *Engine) Among(c *comm.Comm, by call.Number, fn func() error) error {
	if c.Size() == 1 {
		return fn()
	}
	return occupied(c, by, fn)
}

// Tell copies buf from the root to all other members, within Among. It takes the lock.
func (e *Engine) Tell(c *comm.Comm, buf []byte, root int, by call.Number) error {
	if len(buf) == 0 || c.Size() == 1 {
		return nil
	}
	return e.do(c, Bcast, &Args{Recv: Bytes(buf), Width: 1, Root: root, Call: by})
}

// Collect gives the root the bytes of all members, as many of each, within Among. It takes the lock.
func (e *Engine) Collect(c *comm.Comm, mine, all []byte, root int, by call.Number) error {
	if c.Size() == 1 {
		copy(all, mine)
		return nil
	}
	a := Args{Send: Bytes(mine), Width: 1, Root: root, Call: by}
	if c.Rank == root {
		a.Recv = Bytes(all)
	}
	return e.do(c, Gather, &a)
}

// Connected returns the intercommunicator of two groups that have agreed on its context. The lock is
// held.
func (e *Engine) Connected(local *comm.Comm, theirs []int32, ctx uint64, first bool) *comm.Comm {
	c := comm.NewInter(e.p, ctx, local.Rank, local.Members, theirs, first)
	e.attachInter(c)
	return c
}
