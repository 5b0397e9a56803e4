package p2p

import (
	"github.com/halo-mpi/halo/internal/call"
	"github.com/halo-mpi/halo/internal/match"
	"github.com/halo-mpi/halo/internal/wire"
)

// Only the receiver's engine knows whether a send can still be cancelled: the message may
// be among the unexpected messages there, also an eager one whose send is complete.
// Therefore Cancel asks. The frame Revoke identifies the message and arrives after it,
// since frames are in order. The receiver removes the message if it is still unexpected,
// and says so in Revoked. Its poller or service answers, whatever the program there does.
// The send stays incomplete until Revoked arrives, even if it had completed locally: the
// question is a part of its request.
//
// The handle of the send's request identifies a message that waits for an answer
// (EagerSync, Ready). A sequence number among the eager messages of requests to the peer
// identifies any other. A buffered send is complete and knows the handle or number of its
// copy.
//
// A message that a matched probe has taken is matched.

// openRevokesMax is how many Revoke frames to a peer may be unanswered. Each costs the
// peer an answer.
const openRevokesMax = 1024

// Cancel cancels a receive that has not matched, or a send whose message has not matched.
// The operation completes with a cancelled status; a send completes when the peer's
// engine has answered. The lock may be free in between.
func (e *Engine) Cancel(r *Request) {
	switch {
	case !r.Active:
	case !r.Send:
		if !r.Done() && e.table.Cancel(&r.node) {
			r.Status = Status{Source: AnySource, Tag: AnyTag, Cancelled: true}
			e.finish(r, nil)
		}
	case r.peer < 0 || r.Status.Err != nil || r.Status.Cancelled || r.Done() && r.Awaited():
		// There is no message to cancel, or another goroutine is about to find r complete.
	case r.peer == e.me:
		e.revokeSelf(r)
	default:
		e.revoke(r)
	}
}

// revoke asks the peer whether the message of r is still unexpected.
func (e *Engine) revoke(r *Request) {
	q, gen := e.peers.At(int(r.peer)), r.Gen.Load()
	for q.openRevokes >= openRevokesMax { // ends: the peer answers or fails
		e.p.Progress(int(r.peer))
		e.p.Pause()
		if r.Gen.Load() != gen || !r.Active {
			return // another goroutine has completed the request meanwhile
		}
	}
	h := wire.Header{Kind: wire.Revoke, Ctx: r.ctx, Tag: r.tag, Arg: r.sequence}
	if h.Arg == 0 {
		h.Arg = r.handle
		if r.mode == Buffered {
			h.Arg = r.remoteHandle
		}
		if s := e.handles.Find(h.Arg); s == nil || s.phase != phaseReady {
			return // matched
		}
		h.Flags = wire.Announced
	}
	if e.p.DownCause(int(r.peer)) != nil {
		return
	}
	v := e.NewRequest(r.comm, call.Cancel)
	v.Send, v.autoFree, v.phase, v.peer, v.whole = true, true, phaseRevoke, r.peer, r
	v.remoteHandle = 0
	if h.Flags != 0 {
		v.remoteHandle = h.Arg
	}
	r.parts++
	if r.Done() {
		r.Reset()
		r.parts = 1
	}
	q.openRevokes++
	h.Name = e.assignHandle(v)
	e.hdr = h
	e.p.Queue(int(r.peer), &e.hdr, nil, nil)
}

// revokeSelf cancels a message of this process to itself.
func (e *Engine) revokeSelf(r *Request) {
	m := e.findSequence(match.Key{Ctx: r.ctx, Src: e.me, Tag: r.tag}, r.sequence)
	if m == nil {
		return
	}
	r.Status.Cancelled = true
	e.table.Remove(&m.node)
	s := m.sender
	if s == nil {
		e.releaseEager(m)
		return
	}
	s.Status.Cancelled = true
	e.freeMessage(m)
	e.finish(s, nil)
}

// findSequence returns the unexpected eager message with an envelope and a sequence number,
// nil if there is none.
func (e *Engine) findSequence(k match.Key, serial uint64) *Message {
	for n := range e.table.Same(k) {
		if m := n.Owner; m.addr == serial && !m.arriving && (m.eager || m.sender != nil) && serial != 0 {
			return m
		}
	}
	return nil
}

// answerRevoke removes the message that the Revoke frame h identifies, if it is still
// unexpected, and answers.
func (e *Engine) answerRevoke(from int, h *wire.Header) {
	q := e.peers.At(from)
	if q.queuedAnswers > openRevokesMax {
		e.Refuse(from, "it asks for more than %d of its messages, and does not take the answers", openRevokesMax)
		return
	}
	answer := uint64(0)
	if m := e.findRevocable(int32(from), h); m != nil {
		answer = 1
		e.table.Remove(&m.node)
		if m.handle != 0 {
			q.peerUnanswered--
			m.handle = 0
		}
		if m.eager {
			e.releaseEager(m)
		} else {
			e.freeMessage(m)
		}
	}
	q.queuedAnswers++
	e.hdr = wire.Header{Kind: wire.Revoked, Name: h.Name, Arg: answer}
	if e.p.Queue(from, &e.hdr, nil, q) {
		q.queuedAnswers--
	}
}

// findRevocable returns the unexpected message that h identifies, nil if there is none.
func (e *Engine) findRevocable(src int32, h *wire.Header) *Message {
	k := match.Key{Ctx: h.Ctx, Src: src, Tag: h.Tag}
	if h.Flags&wire.Announced == 0 {
		return e.findSequence(k, h.Arg)
	}
	for n := range e.table.Same(k) {
		if m := n.Owner; m.handle == h.Arg && m.handle != 0 && !m.arriving {
			return m
		}
	}
	return nil
}

// Sent implements proc.Sent: an answer to the peer has left the send queue.
func (q *peer) Sent(error) { q.queuedAnswers-- }

// revokeAnswered handles the answer to the question v.
func (e *Engine) revokeAnswered(v *Request, yes bool) {
	r := v.whole.(*Request)
	if s := e.handles.Find(v.remoteHandle); yes && v.remoteHandle != 0 {
		yes = s != nil && s.peer == v.peer && s.phase == phaseReady && !s.queued
		if yes { // else the peer has answered twice
			e.peers.At(int(v.peer)).unanswered--
			e.releaseHandle(s)
			s.Status.Cancelled = true
			e.finish(s, nil)
		}
	}
	if yes {
		r.Status.Cancelled = true
	}
	e.endRevoke(v)
}

// endRevoke completes the question v.
func (e *Engine) endRevoke(v *Request) {
	e.peers.At(int(v.peer)).openRevokes--
	e.releaseHandle(v)
	e.finish(v, nil)
}
