package p2p

import (
	"slices"

	"github.com/halo-mpi/halo/internal/comm"
)

// watch makes this process learn when a process of another job fails, before it waits for a receive on
// c. source is the process that it waits for, or AnySource. That process may wait in turn for others of
// c, so one process of each other job is watched as well.
func (e *Engine) watch(c *comm.Comm, source int32) {
	if source >= 0 {
		e.p.Watch(int(source))
	}
	if c.Within != nil {
		c = c.Within
	}
	c = c.Whole()
	if !c.Watched {
		c.Watched = true
		e.p.WatchJobs(c.Members, c.Rank)
	}
}

// Forget implements proc.Forgetter.
func (e *Engine) Forget(number int) {
	src := int32(number)
	e.dead = slices.DeleteFunc(e.dead, func(d int32) bool { return d == src })
	for n := range e.table.Messages() {
		if n.Src == src {
			e.table.Remove(n)
			e.freeMessage(n.Owner)
		}
	}
	e.peers.Forget(number)
	e.peerClaims.Forget(number)
}
