package p2p

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/comm"
)

// settling is a Disconnect that waits until nothing is in progress on its communicator.
type settling struct{ c *comm.Comm }

// AppendAbout implements proc.About.
func (s settling) AppendAbout(b []byte) []byte {
	return s.c.AppendCall(b, call.CommDisconnect)
}

// Settle waits until no send or receive on c is in progress and more returns false. The
// caller starts nothing on c meanwhile. It takes the lock.
func (e *Engine) Settle(c *comm.Comm, more func() bool) {
	e.p.Lock()
	settled := !e.busy(c) && !more()
	e.p.Unlock()
	if settled {
		return
	}
	defer e.p.Outside(settling{c})() // a program that waits here wants to know, although the process polls
	e.p.Lock()
	defer e.p.Unlock()
	for e.busy(c) || more() {
		e.p.Progress(-1)
		e.p.Pause()
	}
}

// busy reports whether an operation on c is in progress. The frames in send queues do not
// say to which communicator they belong, so busy waits for all of them: peers accept them
// whether they receive the messages or not.
func (e *Engine) busy(c *comm.Comm) bool {
	if e.p.QueuedPeers() > 0 {
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
	for i := range e.handles.slots {
		if r := e.handles.slots[i].value; r != nil && r.comm == c {
			return true
		}
	}
	for _, r := range e.pulls {
		if r.comm == c {
			return true
		}
	}
	for _, q := range e.peers.All() {
		if q.placedRecv != nil && q.placedRecv.comm == c || q.placedMessage != nil && q.placedMessage.receiver != nil && q.placedMessage.receiver.comm == c {
			return true
		}
	}
	return false
}
