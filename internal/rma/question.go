package rma

import (
	"math"
	"sync"

	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/check"
	"github.com/halo-mpi/halo/internal/wire"
)

// engineCheck is what checking mode keeps of a process.
type engineCheck struct {
	locator  check.Locator
	checkers peers.Set  // processes that check; nil if this one does not
	asking   sync.Mutex // one question at a time; never taken with the engine's lock held
	question question   // under the engine's lock
	answers  peers.Table[checkedPeer]
}

// checkedPeer is the state of the answers to a peer's checker. The engine's lock guards it.
type checkedPeer struct {
	sending bool // the answer to a question is in the send queue
}

// question is a WinCheck that waits for its answer.
type question struct {
	proc.Event
	w      *Window
	to     int32
	open   bool
	name   uint64
	answer []byte
}

// AppendAbout implements proc.About.
func (q *question) AppendAbout(b []byte) []byte {
	return q.w.AppendOn(append(b, "check of an access"...))
}

// QuestionMax implements check.Host.
func (c checkedWindow) QuestionMax(rank int) int {
	if rank == c.w.Comm.Rank {
		return math.MaxInt
	}
	e := c.w.e
	e.p.Lock()
	defer e.p.Unlock()
	return e.p.ChunkMax(int(c.w.Comm.Members[rank]))
}

// Ask implements check.Host.
func (c checkedWindow) Ask(rank int, text []byte) []byte {
	w := c.w
	e := w.e
	e.asking.Lock()
	defer e.asking.Unlock()
	e.p.Lock()
	defer e.p.Unlock()
	if rank == w.Comm.Rank {
		answer, _ := w.check.Answer(rank, text)
		return answer
	}
	process := w.Comm.Members[rank]
	if e.p.DownCause(int(process)) != nil {
		return nil
	}
	q := &e.question
	q.Reset()
	q.YieldOften(true)
	q.About, q.w, q.to, q.open, q.answer = q, w, process, true, nil
	q.name++
	e.hdr = wire.Header{Kind: wire.WinCheck, Size: uint32(len(text)), Ctx: w.id, Name: q.name}
	e.p.Queue(int(process), &e.hdr, text, nil)
	e.p.Wait(&q.Event, int(process))
	q.open, q.w = false, nil
	return q.answer
}

// lostCheck ends a question to a process that has died.
func (e *Engine) lostCheck(peer int) {
	e.answers.At(peer).sending = false
	if q := &e.question; q.open && int(q.to) == peer {
		q.Fire()
	}
	for _, w := range e.windows {
		if w.check != nil && w.Comm.RankOf(int32(peer)) >= 0 {
			w.check.Lost()
		}
	}
}

// takeQuestion takes a question, or an answer, of a peer. A question about a window that does not
// exist any more is valid.
func (e *Engine) takeQuestion(from int, h *wire.Header, payload []byte) {
	q := &e.question
	switch {
	case !e.checkers.Has(from):
		e.link.Refuse(from, "it checks, and one of the two of us does not")
	case h.Flags&wire.Answer != 0:
		if q.open && int(q.to) == from && q.name == h.Name && q.w.id == h.Ctx && !q.Done() {
			q.answer = append([]byte(nil), payload...)
			q.Fire()
		}
	case e.answers.At(from).sending:
		e.link.Refuse(from, "it has asked before it could have the answer to another question")
	default:
		answer, ok := check.NoConflict(), true
		if w := e.windows[h.Ctx]; w != nil && w.check != nil {
			rank := w.Comm.RankOf(int32(from))
			ok = rank >= 0
			if ok {
				answer, ok = w.check.Answer(rank, payload)
			}
		}
		if !ok {
			e.link.Refuse(from, "it has asked a question of %d bytes that mean none", len(payload))
			return
		}
		e.hdr = wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Size: uint32(len(answer)), Ctx: h.Ctx, Name: h.Name}
		e.answers.At(from).sending = !e.p.Queue(from, &e.hdr, answer, answered{e, from})
	}
}

// answered follows an answer that leaves the send queue: the peer may ask again.
type answered struct {
	e  *Engine
	to int
}

// Sent implements proc.Sent.
func (a answered) Sent(error) { a.e.answers.At(int(a.to)).sending = false }
