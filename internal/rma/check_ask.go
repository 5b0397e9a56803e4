package rma

import (
	"encoding/binary"
	"sync"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// engineCheck is what checking mode keeps of a process.
type engineCheck struct {
	locator  Locator
	checkers []bool     // processes of the job that check; nil if this one does not
	asking   sync.Mutex // one question at a time; never taken with the engine's lock held
	question question   // under the engine's lock
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

// verb is what a question is about: its first byte.
type verb uint8

const (
	verbAccess verb = 1 + iota // claim and spans: does it conflict? Else log it
	verbForget                 // claim and spans: they are not made, or over
	verbOver                   // claim: gets of its origin that are as old, or with put all accesses, are over
	verbGets                   // claim with the rank of a target for its epoch, and spans: are there gets with requests that are not over?
	verbLook                   // claim and spans: does it conflict? It is over before it could be in the log
	verbWatch                  // verbAccess of a get; and keep what it reads
	verbLeft                   // claim and spans of a put that is complete: keep what it has left
	verbUnseen                 // claim: accesses of its origin will not be asked about
	verbWhere                  // claim of the process that is asked: where is its call? The answer has the text behind the verdict
)

// verdict is an answer: its first byte.
type verdict uint8

const (
	verdictFine     verdict = iota
	verdictConflict         // the other claim and where follow
	verdictOutside          // where follows, and a place in words, if there is one near
)

const (
	// claimSize is the length of an encoded claim without its texts, in bytes.
	claimSize = 4 + 1 + 1 + 1 + 1 + 2 + 2 + 4*8 + 2
	// nameMax and siteMax are the longest texts of a claim in bytes.
	nameMax, siteMax = 40, 200
	// spansMax is how many spans a question has: less than wire.MaxPayload with all else.
	spansMax = 4000
)

// encode appends c to b.
func (c *claim) encode(b []byte) []byte {
	le := binary.LittleEndian
	flags := byte(0)
	if c.alike {
		flags |= 1
	}
	if c.request {
		flags |= 2
	}
	b = le.AppendUint32(b, uint32(c.origin))
	b = append(b, byte(c.deed), byte(c.how), byte(c.op), flags)
	b = le.AppendUint16(b, uint16(c.typ))
	b = le.AppendUint16(b, c.phase)
	for _, n := range [...]uint64{c.epoch, c.gen, c.turn, uint64(c.call.PC)} {
		b = le.AppendUint64(b, n)
	}
	name, site := c.call.Name, c.call.Site
	name, site = name[:min(len(name), nameMax)], site[max(0, len(site)-siteMax):]
	b = append(b, byte(len(name)), byte(len(site)))
	return append(append(b, name...), site...)
}

// decodeClaim reads what encode wrote, of a rank below ranks, and returns what follows. It
// reports false for what that never writes.
func decodeClaim(b []byte, ranks int) (c claim, rest []byte, ok bool) {
	if len(b) < claimSize {
		return c, nil, false
	}
	le := binary.LittleEndian
	flags := b[7]
	c = claim{
		origin: int32(le.Uint32(b)), deed: Deed(b[4]), how: standing(b[5]), op: op.Op(b[6]), alike: flags&1 != 0, request: flags&2 != 0,
		typ: op.Type(le.Uint16(b[8:])), phase: le.Uint16(b[10:]), epoch: le.Uint64(b[12:]), gen: le.Uint64(b[20:]), turn: le.Uint64(b[28:]),
	}
	pc, name, site := uintptr(le.Uint64(b[36:])), int(b[44]), int(b[45])
	b = b[claimSize:]
	if name > nameMax || site > siteMax || len(b) < name+site {
		return c, nil, false
	}
	c.call = Call{Name: p2p.Printable(b[:name]), Site: p2p.Printable(b[name : name+site]), PC: pc}
	ok = c.origin >= 0 && int(c.origin) < ranks && c.deed <= DeedStore && c.how <= standsLock && flags < 4
	if c.deed == DeedAccumulate {
		ok = ok && c.typ.Size() > 0 && (c.op == 0 || c.op.Accumulates(c.typ))
	}
	return c, b[name+site:], ok
}

func encodeSpans(b []byte, list []span) []byte {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, x.lo), x.hi)
	}
	return b
}

func decodeSpans(b []byte) (list []span, ok bool) {
	if len(b)%16 != 0 || len(b) > 16*spansMax {
		return nil, false
	}
	for ; len(b) > 0; b = b[16:] {
		x := span{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
		if x.empty() {
			return nil, false
		}
		list = append(list, x)
	}
	return list, true
}

// inquire asks a process a question about w, and returns the answer, nil if there will be none.
// No lock is held.
func (e *Engine) inquire(process int32, w *Window, text []byte) []byte {
	e.asking.Lock()
	defer e.asking.Unlock()
	e.p.Lock()
	defer e.p.Unlock()
	if int(process) == e.p.Job().Rank {
		answer, _ := w.answer(w.Comm.Rank, text)
		return answer
	}
	if e.p.DownCause(int(process)) != nil {
		return nil
	}
	q := &e.question
	q.Reset()
	q.About, q.w, q.to, q.open, q.answer = q, w, process, true, nil
	q.name++
	e.hdr = wire.Header{Kind: wire.WinCheck, Size: uint32(len(text)), Ctx: w.id, Name: q.name}
	e.p.Queue(int(process), &e.hdr, text, nil)
	e.p.Wait(&q.Event, int(process))
	q.open, q.w = false, nil
	return q.answer
}

// lostCheck ends a question to a process that is gone.
func (e *Engine) lostCheck(peer int) {
	if q := &e.question; q.open && int(q.to) == peer {
		q.Fire()
	}
	for _, w := range e.windows {
		if w.check != nil && w.Comm.RankOf(int32(peer)) >= 0 {
			w.check.blind = true
		}
	}
}

// asked takes a question, or an answer, of a peer. Of a window that is not here any more
// nothing is wrong.
func (e *Engine) asked(from int, h *wire.Header, payload []byte) {
	q := &e.question
	switch {
	case e.checkers == nil || !e.checkers[from]:
		e.refuse(from, "it checks, and one of the two of us does not")
	case h.Flags&wire.Answer != 0:
		if q.open && int(q.to) == from && q.name == h.Name && q.w.id == h.Ctx && !q.Done() {
			q.answer = append([]byte(nil), payload...)
			q.Fire()
		}
	case e.peers[from].checking:
		e.refuse(from, "it has asked before it could have the answer to another question")
	default:
		answer, ok := []byte{byte(verdictFine)}, true
		if w := e.windows[h.Ctx]; w != nil && w.check != nil {
			rank := w.Comm.RankOf(int32(from))
			if ok = rank >= 0; ok {
				answer, ok = w.answer(rank, payload)
			}
		}
		if !ok {
			e.refuse(from, "it has asked a question of %d bytes that mean none", len(payload))
			return
		}
		e.hdr = wire.Header{Kind: wire.WinCheck, Flags: wire.Answer, Size: uint32(len(answer)), Ctx: h.Ctx, Name: h.Name}
		e.peers[from].checking = !e.p.Queue(from, &e.hdr, answer, answered{e, from})
	}
}

// answered is told that an answer has left the backlog: the peer may ask again.
type answered struct {
	e  *Engine
	to int
}

// Sent implements proc.Sent.
func (a answered) Sent(error) { a.e.peers[a.to].checking = false }

// answer answers a question of a rank. The lock is held.
func (w *Window) answer(from int, text []byte) ([]byte, bool) {
	fine := []byte{byte(verdictFine)}
	if len(text) == 0 {
		return nil, false
	}
	what := verb(text[0])
	c, rest, ok := decodeClaim(text[1:], w.Comm.Size())
	if !ok {
		return nil, false
	}
	list, ok := decodeSpans(rest)
	if !ok {
		return nil, false
	}
	k := w.check
	if what != verbForget && what != verbGets {
		c.origin = int32(from)
	}
	switch what {
	case verbAccess, verbLook, verbWatch:
		if c.deed > DeedAccumulate || what == verbWatch && c.deed != DeedGet {
			return nil, false
		}
		k.turned(&c)
		if where, near, out := w.outside(list); out {
			b := encodeSpans(append(fine[:0], byte(verdictOutside)), []span{where})
			return append(b, near...), true
		}
		if other, where, found := k.meets(&c, list); found {
			b := other.encode(append(fine[:0], byte(verdictConflict)))
			return encodeSpans(b, []span{where}), true
		}
		k.kept.updated(&c, list)
		if what != verbLook {
			k.add(c, list)
		}
		if what == verbWatch {
			w.keep(&c, list)
		}
	case verbLeft:
		w.keep(&c, list)
	case verbUnseen:
		k.kept.turnOff()
	case verbForget:
		k.remove(c, list)
		k.kept.drop(func(x *kept) bool { return x.claim == c && x.within(list) })
	case verbOver:
		of := func(o *claim) bool { return o.origin == c.origin && o.how == c.how && o.gen <= c.gen }
		k.drop(func(o *claim) bool { return of(o) && (c.deed == DeedPut || o.deed == DeedGet) })
		if c.deed == DeedGet {
			k.merge(func(o *claim) bool { return o.gen != 0 && of(o) }, func(o *claim) { o.gen = 0 })
		}
	case verbWhere:
		return append(fine, w.e.where(&c.call)...), true
	case verbGets:
		if at, found := k.awaits(int(c.epoch), list); found {
			return encodeSpans(append(fine[:0], byte(verdictConflict)), []span{at}), true
		}
	default:
		return nil, false
	}
	return fine, true
}

// spansTo is how many spans a question to a process has at most.
func (e *Engine) spansTo(process int32) int {
	if int(process) == e.p.Job().Rank {
		return spansMax
	}
	e.p.Lock()
	defer e.p.Unlock()
	return min(spansMax, (e.p.ChunkMax(int(process))-1-claimSize-nameMax-siteMax)/16)
}

// asks asks the target whether an access may be made, and with verbAccess has it logged.
func (w *Window) asks(what verb, p *Pending) error {
	most := w.e.spansTo(p.t.process)
	for first := 0; first < len(p.spans); first += most {
		part := p.spans[first:min(first+most, len(p.spans))]
		if err := w.asksPart(what, p, part); err != nil {
			w.forget(p.t, p.claim, p.spans[:first])
			return err
		}
	}
	return nil
}

func (w *Window) asksPart(what verb, p *Pending, part []span) error {
	text := encodeSpans(p.claim.encode([]byte{byte(what)}), part)
	for range doubtsMax {
		answer := w.e.inquire(p.t.process, w, text)
		if len(answer) == 0 || verdict(answer[0]) == verdictFine { // nothing: the target has died
			return nil
		}
		if verdict(answer[0]) == verdictOutside {
			return w.tellOutside(p, answer[1:])
		}
		other, rest, ok := decodeClaim(answer[1:], w.Comm.Size())
		where, whole := decodeSpans(rest)
		if !ok || !whole || len(where) != 1 {
			return nil
		}
		if at, stands := w.stands(p.t, &other, where[0], part); stands {
			return p.t.conflict(&p.claim, &other, at)
		}
	}
	return nil
}

// doubtsMax is how many claims that may be over are asked about for one access.
const doubtsMax = 1000

// stands reports whether a claim to memory of t that was found in the log is not over, and
// where. Of gets with requests the origin knows; those that are over are taken out of the
// log.
func (w *Window) stands(t *target, c *claim, where span, list []span) (span, bool) {
	if !c.request {
		return where, true
	}
	q, origin := *c, w.Comm.Members[c.origin]
	q.epoch = uint64(t.rank)
	most := w.e.spansTo(origin)
	for first := 0; first < len(list); first += most {
		part := list[first:min(first+most, len(list))]
		answer := w.e.inquire(origin, w, encodeSpans(q.encode([]byte{byte(verbGets)}), part))
		if len(answer) == 0 || verdict(answer[0]) != verdictConflict {
			continue
		}
		if at, ok := decodeSpans(answer[1:]); ok && len(at) == 1 {
			return at[0], true
		}
	}
	w.forget(t, *c, list)
	return where, false
}

// forget has t take out of its log what is not made, or over.
func (w *Window) forget(t *target, c claim, list []span) {
	most := w.e.spansTo(t.process)
	for first := 0; first < len(list); first += most {
		part := list[first:min(first+most, len(list))]
		w.e.inquire(t.process, w, encodeSpans(c.encode([]byte{byte(verbForget)}), part))
	}
}

// tellOver has t take out of its log the accesses of this process that are as old, or its gets.
func (w *Window) tellOver(t *target, how standing, gen uint64, deed Deed) {
	c := claim{origin: int32(w.Comm.Rank), deed: deed, how: how, gen: gen}
	w.e.inquire(t.process, w, c.encode([]byte{byte(verbOver)}))
}

// tellOutside is the error of an access that t, of a dynamic window, has found to be to
// memory that is not attached.
func (w *Window) tellOutside(p *Pending, answer []byte) error {
	if len(answer) < 16 {
		return nil
	}
	where, ok := decodeSpans(answer[:16])
	if !ok {
		return nil
	}
	text := w.e.called(&p.claim.call, " at ") + ": " + p.t.bytes(where[0]) + " are not attached"
	if near := p2p.Printable(answer[16:]); near != "" {
		text += "; " + near
	}
	return fail(class.RMARange, "%s", text)
}
