package p2p

import (
	"slices"

	"github.com/halo-mpi/halo/internal/comm"
	"github.com/halo-mpi/halo/internal/planted"
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

// Repay implements proc.Debtor: it returns the eager credit of all messages that have arrived, also of those that no
// receive has taken yet. The peer has no more of these, in all its connections together, than it has credit.
func (e *Engine) Repay(number int) {
	src := int32(number)
	q := e.peers.Find(number)
	if q == nil || planted.CreditKept {
		return
	}
	for n := range e.table.Messages() {
		if m := n.Owner; n.Src == src && m.eager && !m.uncredited && !m.repaid {
			m.repaid = true
			cost := int(m.size) + messageOverhead
			q.repaid += cost
			q.CreditOwed += cost
		}
	}
	switch {
	case q.repaid > creditMax:
		e.Refuse(number, "it has left connections with %d bytes of messages that nobody has received; the limit is %d", q.repaid, creditMax)
	case q.CreditOwed > 0:
		e.sendCredit(q, src)
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
