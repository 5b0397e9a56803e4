package check

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/p2p"
)

// question is what a member asks another one: the first byte of the text of a question.
type question uint8

const (
	askAccess    question = 1 + iota // entry and spans: does it conflict? Else log it
	askForget                        // entry and spans: they are not made, or complete
	askComplete                      // entry: gets of its origin that are as old, or with Put all accesses, are complete
	askRequests                      // entry with the rank of a target for fences, and spans: are there gets with requests that are not complete?
	askTransient                     // entry and spans: does it conflict? It is complete before it could be in the log
	askGet                           // askAccess of a get; and take a snapshot of what it reads
	askPutDone                       // entry and spans of a put that is complete: take a snapshot of what it has left
	askUnchecked                     // entry: accesses of its origin will come without a question
	askPlace                         // entry of the process that is asked: where is its call? The answer has the text behind the verdict
)

// verdict is the first byte of an answer.
type verdict uint8

const (
	noConflict  verdict = iota
	conflicting         // the other entry and the bytes follow
	notAttached         // the bytes follow, and a place in words, if there is one near
)

// spansMax is how many spans a question has at most: less than wire.MaxPayload with all else.
const spansMax = 4000

// NoConflict is the answer of a window that does not exist any more.
func NoConflict() []byte { return []byte{byte(noConflict)} }

// Answer answers a question of a rank. It reports false if the question is not valid. The lock is held.
func (w *Window) Answer(from int, text []byte) ([]byte, bool) {
	answer := NoConflict()
	if len(text) == 0 {
		return nil, false
	}
	what := question(text[0])
	c, rest, ok := decodeEntry(text[1:], w.host.Comm().Size())
	if !ok {
		return nil, false
	}
	list, ok := decodeSpans(rest)
	if !ok {
		return nil, false
	}
	if what != askForget && what != askRequests {
		c.origin = int32(from)
	}
	switch what {
	case askAccess, askTransient, askGet:
		if c.kind > Accumulate || what == askGet && c.kind != Get {
			return nil, false
		}
		w.advance(&c)
		if where, near, out := w.unattached(list); out {
			b := encodeSpans(append(answer[:0], byte(notAttached)), []span{where})
			return append(b, near...), true
		}
		if other, where, found := w.conflict(&c, list); found {
			b := other.encode(append(answer[:0], byte(conflicting)))
			return encodeSpans(b, []span{where}), true
		}
		w.snapshots.updated(&c, list)
		if what != askTransient {
			w.add(c, list)
		}
		if what == askGet {
			w.snap(&c, list)
		}
	case askPutDone:
		w.snap(&c, list)
	case askUnchecked:
		w.snapshots.turnOff()
	case askForget:
		w.log.remove(c, list)
		w.snapshots.drop(func(x *snapshot) bool { return x.entry == c && x.within(list) })
	case askComplete:
		of := func(o *entry) bool { return o.origin == c.origin && o.epoch == c.epoch && o.gen <= c.gen }
		w.log.drop(func(o *entry) bool { return of(o) && (c.kind == Put || o.kind == Get) })
		if c.kind == Get {
			w.merge(func(o *entry) bool { return o.gen != 0 && of(o) }, func(o *entry) { o.gen = 0 })
		}
	case askPlace:
		return append(answer, w.where(&c.call)...), true
	case askRequests:
		if at, found := w.incompleteGet(int(c.fences), list); found {
			return encodeSpans(append(answer[:0], byte(conflicting)), []span{at}), true
		}
	default:
		return nil, false
	}
	return answer, true
}

// spansTo is how many spans a question to a rank has at most.
func (w *Window) spansTo(rank int) int {
	return min(spansMax, (w.host.QuestionMax(rank)-1-entrySize-nameMax-siteMax)/16)
}

// ask asks the target whether an access may be made, and with askAccess has it logged. No lock is
// held.
func (w *Window) ask(what question, p *Pending) error {
	most := w.spansTo(p.target)
	for first := 0; first < len(p.spans); first += most {
		part := p.spans[first:min(first+most, len(p.spans))]
		if err := w.askPart(what, p, part); err != nil {
			w.forget(p.target, p.entry, p.spans[:first])
			return err
		}
	}
	return nil
}

func (w *Window) askPart(what question, p *Pending, part []span) error {
	text := encodeSpans(p.entry.encode([]byte{byte(what)}), part)
	for range incompleteMax {
		answer := w.host.Ask(p.target, text)
		if len(answer) == 0 || verdict(answer[0]) == noConflict { // nothing: the target has died
			return nil
		}
		if verdict(answer[0]) == notAttached {
			return w.notAttachedError(p, answer[1:])
		}
		other, rest, ok := decodeEntry(answer[1:], w.host.Comm().Size())
		where, whole := decodeSpans(rest)
		if !ok || !whole || len(where) != 1 {
			return nil
		}
		if at, incomplete := w.incomplete(p.target, &other, where[0], part); incomplete {
			return w.conflictError(p.target, &p.entry, &other, at)
		}
	}
	return nil
}

// incompleteMax is for how many entries of one access an origin is asked whether they are complete.
const incompleteMax = 1000

// incomplete reports whether an access to memory of a target that was found in the log is not
// complete, and where. Of gets with requests the origin knows; those that are complete are removed
// from the log.
func (w *Window) incomplete(target int, c *entry, where span, list []span) (span, bool) {
	if !c.request {
		return where, true
	}
	q, origin := *c, int(c.origin)
	q.fences = uint64(target)
	most := w.spansTo(origin)
	for first := 0; first < len(list); first += most {
		part := list[first:min(first+most, len(list))]
		answer := w.host.Ask(origin, encodeSpans(q.encode([]byte{byte(askRequests)}), part))
		if len(answer) == 0 || verdict(answer[0]) != conflicting {
			continue
		}
		if at, ok := decodeSpans(answer[1:]); ok && len(at) == 1 {
			return at[0], true
		}
	}
	w.forget(target, *c, list)
	return where, false
}

// forget has a target remove from its log what is not made, or complete.
func (w *Window) forget(target int, c entry, list []span) {
	most := w.spansTo(target)
	for first := 0; first < len(list); first += most {
		part := list[first:min(first+most, len(list))]
		w.host.Ask(target, encodeSpans(c.encode([]byte{byte(askForget)}), part))
	}
}

// tellComplete has a target remove from its log the accesses of this process that are as old, or
// with Get its gets.
func (w *Window) tellComplete(target int, epoch Epoch, gen uint64, kind Kind) {
	c := entry{origin: int32(w.host.Comm().Rank), kind: kind, epoch: epoch, gen: gen}
	w.host.Ask(target, c.encode([]byte{byte(askComplete)}))
}

// tellUnchecked tells the target of an access that is about to be made that it will not be asked
// about it, or not be told its end. No lock is held.
func (w *Window) tellUnchecked(target int) {
	w.lock.Lock()
	known := w.unchecked[target]
	w.unchecked[target] = true
	w.lock.Unlock()
	if !known {
		own := entry{origin: int32(w.host.Comm().Rank)}
		w.host.Ask(target, own.encode([]byte{byte(askUnchecked)}))
	}
}

// locate replaces the address of the call of an entry by text, which only the process that has
// made the call can: text is made when a report is written, not for each access. No lock is held.
func (w *Window) locate(c *entry) {
	if c.call.PC == 0 {
		return
	}
	name := w.named(&c.call)
	answer := w.host.Ask(int(c.origin), c.encode([]byte{byte(askPlace)}))
	site := fmt.Sprintf("%#x", c.call.PC)
	if len(answer) > 1 && verdict(answer[0]) == noConflict {
		site = p2p.Printable(answer[1:min(len(answer), 1+siteMax)])
	}
	c.call = Call{Name: name, Site: site}
}

// conflictError is the error of an access c of this process to memory of a target that conflicts
// with another one. No lock is held.
func (w *Window) conflictError(target int, c, other *entry, where span) error {
	mine, its := *c, *other
	w.locate(&mine)
	w.locate(&its)
	why := ", which is not complete"
	switch {
	case its.kind > Accumulate:
		why = ", which is under way"
	case its.epoch == Fence:
		why = " between the same two fences"
	case its.epoch == Start:
		why = " in the same epoch of Post"
	}
	return fail(class.RMAConflict, "%s: %s conflicts with %s%s", w.bytes(target, where), mine.text(), its.text(), why)
}

// notAttachedError is the error of an access that the target, of a dynamic window, has found to be to
// memory that is not attached.
func (w *Window) notAttachedError(p *Pending, answer []byte) error {
	if len(answer) < 16 {
		return nil
	}
	where, ok := decodeSpans(answer[:16])
	if !ok {
		return nil
	}
	text := w.called(&p.entry.call, " at ") + ": " + w.bytes(p.target, where[0]) + " are not attached"
	if near := p2p.Printable(answer[16:]); near != "" {
		text += "; " + near
	}
	return fail(class.RMARange, "%s", text)
}

// bytes is a piece of the memory of a rank in words.
func (w *Window) bytes(rank int, x span) string {
	if w.dynamic {
		return fmt.Sprintf("bytes %#x to %#x of rank %d", x.lo, x.hi-1, rank)
	}
	text := fmt.Sprintf("bytes %d to %d of rank %d", x.lo, x.hi-1, rank)
	if unit := uint64(w.host.Unit(rank)); unit > 1 {
		first, last := x.lo/unit, (x.hi-1)/unit
		if text += fmt.Sprintf(" (displacement %d", first); last != first {
			text += fmt.Sprintf(" to %d", last)
		}
		text += ")"
	}
	return text
}
