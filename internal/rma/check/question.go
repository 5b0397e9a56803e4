package check

import (
	"fmt"

	"github.com/halo-mpi/halo/internal/callsite"
	"github.com/halo-mpi/halo/internal/class"
)

// question is the kind of a question to another member: the first byte of its text.
type question uint8

const (
	askAccess    question = 1 + iota // entry and spans: does it conflict? Else log it
	askForget                        // entry and spans: remove them, they are complete or not made
	askComplete                      // entry: gets, or for Put all accesses, up to its gen are complete
	askRequests                      // entry (fences: rank of a target), spans: is a get incomplete there?
	askTransient                     // entry and spans: does it conflict? Do not log it
	askGet                           // askAccess for a get; also take a snapshot of the memory
	askPutDone                       // entry and spans of a complete put: take a snapshot
	askUnchecked                     // entry: accesses of its origin will come without a question
	askPlace                         // entry of the asked process: where is its call? As text
)

// verdict is the first byte of an answer.
type verdict uint8

const (
	noConflict  verdict = iota
	conflicting         // the other entry and the bytes follow
	notAttached         // the bytes follow, and a description of memory near them if there is any
)

// spansMax is the largest number of spans in a question: the question is shorter than
// wire.MaxPayload.
const spansMax = 4000

// NoConflict returns the answer to questions about a window that no longer exists.
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
		return append(answer, w.Where(&c.call)...), true
	case askRequests:
		if at, found := w.incompleteGet(int(c.fences), list); found {
			return encodeSpans(append(answer[:0], byte(conflicting)), []span{at}), true
		}
	default:
		return nil, false
	}
	return answer, true
}

// spansTo returns the largest number of spans in a question to a rank.
func (w *Window) spansTo(rank int) int {
	return min(spansMax, (w.host.QuestionMax(rank)-1-entrySize-nameMax-siteMax)/16)
}

// ask asks the target of p whether the access may be made; with askAccess the target logs it. No
// lock is held.
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

// incompleteMax is the largest number of entries about whose completion origins are asked for one
// access.
const incompleteMax = 1000

// incomplete reports whether an access that was found in the log of a target is incomplete, and on
// which bytes. For gets with requests it asks the origin, and has complete ones removed from the
// log.
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

// forget has a target remove accesses from its log that are complete or will not be made.
func (w *Window) forget(target int, c entry, list []span) {
	most := w.spansTo(target)
	for first := 0; first < len(list); first += most {
		part := list[first:min(first+most, len(list))]
		w.host.Ask(target, encodeSpans(c.encode([]byte{byte(askForget)}), part))
	}
}

// tellComplete has a target remove from its log the accesses of this process up to generation gen,
// or with Get only the gets among them.
func (w *Window) tellComplete(target int, epoch Epoch, gen uint64, kind Kind) {
	c := entry{origin: int32(w.host.Comm().Rank), kind: kind, epoch: epoch, gen: gen}
	w.host.Ask(target, c.encode([]byte{byte(askComplete)}))
}

// tellUnchecked tells a target that an access without a question, or without a notice of its end,
// is about to be made. No lock is held.
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

// locate replaces the address of the call of an entry by text. It asks the process that has made the
// call, which alone can do that. The text is made for a report, and not for each access. No lock is
// held.
func (w *Window) locate(c *entry) {
	if c.call.PC == 0 {
		return
	}
	answer := w.host.Ask(int(c.origin), c.encode([]byte{byte(askPlace)}))
	site := fmt.Sprintf("%#x", c.call.PC)
	if len(answer) > 1 && verdict(answer[0]) == noConflict {
		site = callsite.Printable(answer[1:min(len(answer), 1+siteMax)])
	}
	c.call = Call{Name: c.call.Name, Site: site}
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
	return class.Errorf(class.RMAConflict, "%s: %s conflicts with %s%s", w.bytes(target, where), mine.text(), its.text(), why)
}

// notAttachedError is the error of an access to memory of a dynamic window that, according to the
// target's answer, is not attached.
func (w *Window) notAttachedError(p *Pending, answer []byte) error {
	if len(answer) < 16 {
		return nil
	}
	where, ok := decodeSpans(answer[:16])
	if !ok {
		return nil
	}
	text := w.Called(&p.entry.call, " at ") + ": " + w.bytes(p.target, where[0]) + " are not attached"
	if near := callsite.Printable(answer[16:]); near != "" {
		text += "; " + near
	}
	return class.Errorf(class.RMARange, "%s", text)
}

// bytes describes a piece of the memory of a rank.
func (w *Window) bytes(rank int, x span) string {
	if w.dynamic {
		return fmt.Sprintf("bytes %#x to %#x of rank %d", x.lo, x.hi-1, rank)
	}
	text := fmt.Sprintf("bytes %d to %d of rank %d", x.lo, x.hi-1, rank)
	if unit := uint64(w.host.Unit(rank)); unit > 1 {
		first, last := x.lo/unit, (x.hi-1)/unit
		text += fmt.Sprintf(" (displacement %d", first)
		if last != first {
			text += fmt.Sprintf(" to %d", last)
		}
		text += ")"
	}
	return text
}
