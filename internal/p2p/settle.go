package p2p

import "github.com/halo-mpi/halo/internal/comm"

// Settle waits until no send or receive on c is under way, nor more() says that
// there is something else. The caller starts nothing on c meanwhile. It takes the
// lock.
func (e *Engine) Settle(c *comm.Comm, more func() bool) {
	e.p.Lock()
	defer e.p.Unlock()
	for e.busy(c) || more() {
		e.p.Progress(-1)
		e.p.Pause()
	}
}

// busy reports whether something is under way on c. What waits only for room on
// its way to a peer has no name here, so that all of that is waited for: peers
// take it whether they receive it or not.
func (e *Engine) busy(c *comm.Comm) bool {
	if e.p.Backlogs() > 0 {
		return true
	}
	for n := range e.table.Receives() {
		if n.Owner.comm == c {
			return true
		}
	}
	for n := range e.table.Messages() {
		if s := n.Owner.sender; s != nil && s.comm == c {
			return true
		}
	}
	for i := range e.names.slots {
		if r := e.names.slots[i].is; r != nil && r.comm == c {
			return true
		}
	}
	for _, r := range e.pulls {
		if r.comm == c {
			return true
		}
	}
	for i := range e.peers {
		q := &e.peers[i]
		if q.placed != nil && q.placed.comm == c || q.filling != nil && q.filling.claimed != nil && q.filling.claimed.comm == c {
			return true
		}
	}
	return false
}
