package p2p

import (
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/wire"
)

// Whether a send can still be cancelled only the receiver's engine knows: its message
// may wait there among the unexpected ones, an eager one too, whose send completed long
// ago. So to cancel is to ask: Revoke names the message, and comes behind it in the order
// of frames; Revoked says whether it was still there, and then it is there no more. The
// answer comes from whoever polls there, whatever the program does. Until then the
// request is not complete, or not any more: the question is a part of it.
//
// A message is named by the sender's request if that waits for an answer (EagerSync,
// Ready), and else by its number among the eager messages of requests to that peer.
// A buffered send is complete at once, and knows what its copy is named by.
//
// What a matched probe has taken is matched.

// revokesMax is how many questions to a peer may be open: each costs it an answer.
const revokesMax = 1024

// Cancel cancels a receive that has not been matched, or a send whose message has not.
// It then completes with a status that says so; a send when the peer's engine has
// answered. The lock may be free in between.
func (e *Engine) Cancel(r *Request) {
	switch {
	case !r.Active:
	case !r.Send:
		if !r.Done() && e.table.Cancel(&r.node) {
			r.Status = Status{Source: AnySource, Tag: AnyTag, Cancelled: true}
			e.finish(r, nil)
		}
	case r.peer < 0 || r.Status.Err != nil || r.Status.Cancelled || r.Done() && r.Awaited():
		// Nothing to take back; or somebody is about to see that r is complete.
	case r.peer == e.me:
		e.revokeSelf(r)
	default:
		e.revoke(r)
	}
}

// revoke asks the peer.
func (e *Engine) revoke(r *Request) {
	q, gen := &e.peers[r.peer], r.Gen
	for q.revokes >= revokesMax { // their ends come, if need be with the peer's
		e.p.Progress(int(r.peer))
		e.p.Pause()
		if r.Gen != gen || !r.Active {
			return // waited for by another goroutine
		}
	}
	h := wire.Header{Kind: wire.Revoke, Ctx: r.ctx, Tag: r.tag, Arg: r.serial}
	if h.Arg == 0 {
		if h.Arg = r.name; r.mode == Buffered {
			h.Arg = r.remote
		}
		if s := e.names.Find(h.Arg); s == nil || s.phase != phaseReady {
			return // matched
		}
		h.Flags = wire.Announced
	}
	if e.p.DownCause(int(r.peer)) != nil {
		return
	}
	v := e.NewRequest(r.comm, "Cancel")
	v.Send, v.autoFree, v.phase, v.peer, v.whole = true, true, phaseRevoke, r.peer, r
	if v.remote = 0; h.Flags != 0 {
		v.remote = h.Arg
	}
	if r.parts++; r.Done() {
		r.Reset()
		r.parts = 1
	}
	q.revokes++
	h.Name = e.give(v)
	e.hdr = h
	e.p.Queue(int(r.peer), &e.hdr, nil, nil)
}

// revokeSelf takes a message of this process to itself back.
func (e *Engine) revokeSelf(r *Request) {
	m := e.numbered(match.Key{Ctx: r.ctx, Src: e.me, Tag: r.tag}, r.serial)
	if m == nil {
		return
	}
	r.Status.Cancelled = true
	e.table.Remove(&m.node)
	s := m.sender
	if s == nil {
		e.retire(m)
		return
	}
	s.Status.Cancelled = true
	e.freeMessage(m)
	e.finish(s, nil)
}

// numbered is the unexpected eager message of that envelope with that number, nil if there
// is none.
func (e *Engine) numbered(k match.Key, serial uint64) *Message {
	for n := range e.table.Same(k) {
		if m := n.Owner; m.addr == serial && !m.filling && (m.eager || m.sender != nil) && serial != 0 {
			return m
		}
	}
	return nil
}

// withdraw takes a message back that the peer asks for in h, and answers.
func (e *Engine) withdraw(from int, h *wire.Header) {
	q := &e.peers[from]
	if q.answers > revokesMax {
		e.Refuse(from, "it asks for more than %d of its messages, and does not take the answers", revokesMax)
		return
	}
	answer := uint64(0)
	if m := e.revocable(int32(from), h); m != nil {
		answer = 1
		e.table.Remove(&m.node)
		if m.name != 0 {
			q.asked--
			m.name = 0
		}
		if m.eager {
			e.retire(m)
		} else {
			e.freeMessage(m)
		}
	}
	q.answers++
	e.hdr = wire.Header{Kind: wire.Revoked, Name: h.Name, Arg: answer}
	if e.p.Queue(from, &e.hdr, nil, q) {
		q.answers--
	}
}

// revocable is the unexpected message that h names.
func (e *Engine) revocable(src int32, h *wire.Header) *Message {
	k := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
	if h.Flags&wire.Announced == 0 {
		return e.numbered(k, h.Arg)
	}
	for n := range e.table.Same(k) {
		if m := n.Owner; m.name == h.Arg && m.name != 0 && !m.filling {
			return m
		}
	}
	return nil
}

// Sent implements proc.Sent: an answer to the peer has gone.
func (q *peer) Sent(error) { q.answers-- }

// revoked takes the answer to the question v.
func (e *Engine) revoked(v *Request, yes bool) {
	r := v.whole.(*Request)
	if s := e.names.Find(v.remote); yes && v.remote != 0 {
		if yes = s != nil && s.peer == v.peer && s.phase == phaseReady && !s.queued; yes { // else the peer has answered it twice
			e.peers[v.peer].unanswered--
			e.drop(s)
			s.Status.Cancelled = true
			e.finish(s, nil)
		}
	}
	if yes {
		r.Status.Cancelled = true
	}
	e.endRevoke(v)
}

// endRevoke ends the question v.
func (e *Engine) endRevoke(v *Request) {
	e.peers[v.peer].revokes--
	e.drop(v)
	e.finish(v, nil)
}
