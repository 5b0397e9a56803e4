package p2p

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
)

// Pending fails if there are operations that the user has started and not
// completed. It takes the lock.
func (e *Engine) Pending() error {
	e.p.Lock()
	defer e.p.Unlock()
	sends, receives := 0, len(e.pulls)
	for i := range e.handles.slots {
		switch r := e.handles.slots[i].value; {
		case r == nil || !r.waitable():
		case r.Send:
			sends++
		default:
			receives++
		}
	}
	for n := range e.table.Messages() {
		if s := n.Owner.sender; s != nil && s.waitable() {
			sends++
		}
	}
	switch {
	case e.table.Posted() > 0:
		return pending(e.table.Posted(), "receive", "still posted")
	case receives > 0:
		return pending(receives, "receive", "not complete")
	case sends > 0:
		return pending(sends, "send", "not complete")
	case len(e.probes) > 0:
		return pending(len(e.probes), "probe", "waiting")
	case e.heldByProbes > 0:
		return pending(e.heldByProbes, "message of a matched probe", "not received")
	}
	return nil
}

// waitable reports whether the user can still wait for r: the user has not freed it, and it
// does not belong to the engine.
func (r *Request) waitable() bool {
	_, part := r.whole.(*Request)
	return !r.autoFree || part
}

// Freed reports whether the program has freed r before it was complete. The lock is held.
func (r *Request) Freed() bool { return r.autoFree }

func pending(n int, what, how string) error {
	verb := "is"
	if n > 1 {
		what, verb = what+"s", "are"
	}
	return &class.Error{Class: class.Pending, Text: fmt.Sprintf("%d %s %s %s", n, what, verb, how)}
}

// Drain waits for the operations that the user does not wait for: buffered sends and freed
// requests. It is called when no process of the job starts operations any more. All
// processes discard the messages that nobody has received, so that Drain returns. It takes
// the lock.
func (e *Engine) Drain() {
	e.p.Lock()
	defer e.p.Unlock()
	e.draining = true
	for n := range e.table.Messages() {
		e.table.Remove(n)
		e.discard(n.Owner)
	}
	for len(e.pulls) > 0 || len(e.streams) > 0 || e.handles.live > 0 || e.p.QueuedPeers() > 0 {
		e.p.Progress(-1)
		e.p.Pause()
	}
}

// discard drops a message that nobody will receive, and completes its send.
func (e *Engine) discard(m *Message) {
	switch {
	case m.arriving: // Placed releases it
	case m.sender != nil:
		s := m.sender
		e.freeMessage(m)
		e.finish(s, nil)
	case m.eager:
		e.releaseEager(m)
	default:
		from, name := m.node.Src, m.handle
		e.freeMessage(m)
		e.ack(from, name)
	}
}
