package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// mark is a moment in what is sent to a target: all operations up to one of them.
type mark struct {
	at   uint64 // the operation
	done uint64 // what a WinDone has to answer until then
}

// farWait is a goroutine that waits for a mark.
type farWait struct {
	proc.Event
	mark  mark
	local bool
}

// farIdle reports whether nothing is under way to t and nothing is to be told of it.
func (e *Engine) farIdle(t *target) bool {
	return t.oldest == nil && t.quiet <= t.done && t.fault == nil
}

// farFlush asks the target to tell when all that was sent to it is done, and returns the
// mark to wait for. One flush is under way at a time: goroutines that flush meanwhile
// share the next, and what they have put goes with it. With 32 of them that is several
// times faster, and with two not slower. The lock is held.
func (e *Engine) farFlush(t *target) mark {
	if t.quiet > t.wanted {
		t.wanted = t.issued
		if t.asked == t.done {
			e.askFlush(t)
		}
	}
	return mark{t.issued, t.wanted}
}

// askFlush sends the flush that is wanted, behind or with what was sent before.
func (e *Engine) askFlush(t *target) {
	if e.p.DownCause(int(t.process)) != nil {
		return
	}
	t.asked, t.wanted = t.issued, t.issued
	if !e.releaseThen(t, wire.ThenFlush, t.asked) {
		e.send(t, kindFlush)
	}
}

// farHere is the mark of all that was sent until now, for waits that are local.
func (t *target) farHere() mark { return mark{at: t.issued} }

// farUnlock gives back the lock of t behind all that was sent to it, and returns the mark
// at which that is done. The lock of the engine is held.
func (e *Engine) farUnlock(t *target) mark {
	if e.p.DownCause(int(t.process)) == nil {
		t.issued++
		t.quiet, t.asked, t.wanted = t.issued, t.issued, t.issued
		if !e.releaseThen(t, wire.ThenUnlock, t.asked) {
			e.send(t, kindUnlock)
		}
	}
	return mark{t.issued, t.asked}
}

// farComplete tells the target, behind all that was sent to it, that the access epoch is
// over.
func (e *Engine) farComplete(t *target) {
	if e.p.DownCause(int(t.process)) == nil {
		if !e.releaseThen(t, wire.ThenComplete, 0) {
			e.send(t, kindEnd)
		}
	}
}

// send puts what is no operation at the end of the line of t.
func (e *Engine) send(t *target, k kind) {
	o := e.newOperation(nil, t, &access{kind: k}, 0)
	o.at = t.issued
	e.launch(o)
}

// reached reports whether all up to m is complete at the origin, and if it is not
// local, at the target.
func (t *target) reached(m mark, local bool) bool {
	return (t.oldest == nil || t.oldest.at > m.at) && (local || t.done >= m.done)
}

// farWait returns when all up to m is complete at the origin, and unless it is local
// at the target. It returns, and forgets, the first error of an operation that no request
// tells of. about says who waits. The lock is held; others may hold it in between.
func (e *Engine) farWait(t *target, m mark, local bool, about proc.About) error {
	if !t.reached(m, local) && e.p.DownCause(int(t.process)) == nil {
		var w *farWait
		if n := len(e.parked); n > 0 {
			w = e.parked[n-1]
			e.parked = e.parked[:n-1]
		} else {
			w = &farWait{}
		}
		w.mark, w.local, w.About = m, local, about
		t.waits = append(t.waits, w)
		e.p.Wait(&w.Event, int(t.process))
		for i, o := range t.waits {
			if o == w {
				last := len(t.waits) - 1
				t.waits[i], t.waits[last] = t.waits[last], nil
				t.waits = t.waits[:last]
				break
			}
		}
		w.Reset()
		w.About = nil
		e.parked = append(e.parked, w)
	}
	err := t.fault
	t.fault = nil
	if cause := e.p.DownCause(int(t.process)); cause != nil && !t.reached(m, local) {
		err = gone(t.rank, cause)
	}
	return err
}

// notify wakes those whose mark is reached, or never will be.
func (t *target) notify() {
	for _, w := range t.waits {
		if t.reached(w.mark, w.local) || t.w.e.p.DownCause(int(t.process)) != nil {
			w.Fire()
		}
	}
}

// farLock asks the target for its lock; the answer comes to Window.granted.
func (e *Engine) farLock(t *target, exclusive bool) {
	e.hdr = wire.Header{Kind: wire.WinLock, Ctx: t.w.id}
	if exclusive {
		e.hdr.Flags = wire.Exclusive
	}
	e.p.Queue(int(t.process), &e.hdr, nil, nil)
}

// farGrant tells a process that it has the lock of this one in w; or with a class and a
// number why it has not.
func (e *Engine) farGrant(w *Window, process int32, c class.Class, arg int64) {
	e.hdr = wire.Header{Kind: wire.WinGrant, Ctx: w.id, Aux: uint32(c), Arg: uint64(arg)}
	e.p.Queue(int(process), &e.hdr, nil, nil)
}

// farPost tells a process that the own memory in w is exposed to it.
func (e *Engine) farPost(w *Window, process int32) {
	e.hdr = wire.Header{Kind: wire.WinPost, Ctx: w.id}
	e.p.Queue(int(process), &e.hdr, nil, nil)
}
