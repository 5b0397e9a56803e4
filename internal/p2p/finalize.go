package p2p

import (
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
)

// Pending fails if there are operations that the user has started and not
// completed in contexts that of selects; nil selects all. It takes the lock.
func (e *Engine) Pending(of func(ctx uint64) bool) error {
	e.p.Lock()
	defer e.p.Unlock()
	selects := func(ctx uint64) bool { return of == nil || of(ctx) }
	sends, receives, posted, probes := 0, 0, 0, 0
	var first *Request // that is posted
	for _, r := range e.pulls {
		if selects(r.ctx) {
			receives++
		}
	}
	for i := range e.handles.slots {
		switch r := e.handles.slots[i].value; {
		case r == nil || !r.waitable() || !selects(r.ctx):
		case r.Send:
			sends++
		default:
			receives++
		}
	}
	for n := range e.table.Messages() {
		if s := n.Owner.sender; s != nil && s.waitable() && selects(s.ctx) {
			sends++
		}
	}
	for n := range e.table.Receives() {
		if selects(n.Ctx) {
			posted++
			if first == nil {
				first = n.Owner
			}
		}
	}
	for _, q := range e.probes {
		if selects(q.key.Ctx) {
			probes++
		}
	}
	switch {
	case posted > 0:
		err := pending(posted, "receive", "still posted")
		err.Text += e.pendingReceive(first, posted)
		return err
	case receives > 0:
		return pending(receives, "receive", "not complete")
	case sends > 0:
		return pending(sends, "send", "not complete")
	case probes > 0:
		return pending(probes, "probe", "waiting")
	case of == nil && e.heldByProbes > 0:
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

func pending(n int, what, how string) *class.Error {
	verb := "is"
	if n > 1 {
		what, verb = what+"s", "are"
	}
	return class.Errorf(class.Pending, "%d %s %s %s", n, what, verb, how)
}

// Drain waits for the operations that the user does not wait for: buffered sends and freed
// requests. It is called when no process of the job starts operations of the world model any
// more. All processes discard the messages that nobody has received, so that Drain returns.
// Messages on communicators of sessions stay. It takes the lock.
func (e *Engine) Drain() {
	e.p.Lock()
	defer e.p.Unlock()
	e.draining = true
	for n := range e.table.Messages() {
		if e.drains(n.Ctx) {
			e.table.Remove(n)
			e.discard(n.Owner)
		}
	}
	for e.unfinished() || e.p.QueuedPeers() > 0 {
		e.p.Progress(-1)
		e.p.Pause()
	}
}

// DrainQueues waits until the fabrics have all frames, so that the process may end. It takes the
// lock.
func (e *Engine) DrainQueues() {
	e.p.Lock()
	defer e.p.Unlock()
	for e.p.QueuedPeers() > 0 {
		e.p.Progress(-1)
		e.p.Pause()
	}
}

// drains reports whether the program receives no more messages in a context.
func (e *Engine) drains(ctx uint64) bool {
	return e.draining && (!proc.InSession(ctx) || planted.SessionDrained)
}

// unfinished reports whether operations of the world model are in progress.
func (e *Engine) unfinished() bool {
	if len(e.pulls) == 0 && len(e.streams) == 0 && e.handles.live == 0 {
		return false
	}
	of := func(r *Request) bool { return r != nil && !proc.InSession(r.ctx) }
	for i := range e.handles.slots {
		if of(e.handles.slots[i].value) {
			return true
		}
	}
	return slices.ContainsFunc(e.pulls, of) || slices.ContainsFunc(e.streams, of)
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
