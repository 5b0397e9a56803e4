package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// mark is a moment in what a channel sends: all operations up to one of them.
type mark struct {
	at   uint64 // the operation
	done uint64 // up to where a WinDone must have come
}

// markWaiter is a goroutine that waits for a mark.
type markWaiter struct {
	proc.Event
	mark  mark
	local bool
}

// channelsIdle reports whether nothing is under way to t and no error is to be reported.
func (e *Engine) channelsIdle(t *target) bool {
	if len(t.others) == 0 {
		return t.main.idle()
	}
	for c := range t.channels {
		if !c.idle() {
			return false
		}
	}
	return true
}

// idle reports whether nothing is under way by c and no error is to be reported.
func (c *channel) idle() bool {
	return c.oldest == nil && c.quiet <= c.done && c.fault == nil && c.lastShared <= c.target.main.done
}

// requestFlush requests a WinDone for all that was sent by c, and returns the mark to wait for. At
// most one flush of a channel is under way: goroutines that flush meanwhile share the next one,
// together with their puts. With 32 goroutines that is several times faster, and with two not
// slower. The caller waits. The lock is held.
func (e *Engine) requestFlush(c *channel) mark {
	if c.quiet > c.wanted && !(planted.FlushShared && c.asked != c.done) {
		c.wanted = c.issued
		if c.asked == c.done {
			e.sendFlushSoon(c)
		}
	}
	return mark{c.issued, c.wanted}
}

// sendFlushSoon sends the flush when the goroutines have run that were woken and have not run yet:
// most of them put and flush again. One flush of all then replaces one of the first and one of the
// others, which halves the time with two and four goroutines. The caller is about to wait for the
// flush, or has found that a goroutine polls which waits for it: that goroutine sends it
// (sendDueFlushes) before it may sleep.
func (e *Engine) sendFlushSoon(c *channel) {
	if e.p.Woken() {
		e.delay(c)
	} else {
		e.sendFlush(c)
	}
}

// delay has sendDueFlushes send what c holds, and the flush that is wanted then.
func (e *Engine) delay(c *channel) {
	if !c.delayed {
		c.delayed, c.delays, c.seen = true, 0, c.issued
		e.delayed = append(e.delayed, c)
		e.p.Later(1)
	}
}

// holdRequest holds the frame with header e.hdr, a request of o, if goroutines have been woken and have
// not run yet: as with flushes, most of them make requests, too, and one system call then sends all. It
// reports whether it did. Operations with a request of MPI are not held, since the caller need not wait.
func (e *Engine) holdRequest(o *operation, payload []byte) bool {
	c := o.channel
	if o.awaits == 0 || o.request != nil || planted.RequestsAlone || !e.p.Woken() || !e.p.SendSoon(int(c.target.process), &e.hdr, payload) {
		return false
	}
	e.delay(c)
	return true
}

// delaysMax is for how many polls in a row, during which no operation is added, a flush is delayed
// at most: about a round trip. The goroutines that are expected may be on a thread that waits for a
// core, for a tick of the kernel or longer. So each delay after which they still have not run
// halves those that follow (channel.delayShift), and each that was useful doubles them.
const delaysMax = 32

// delayShiftMax leaves two polls.
const delayShiftMax = 4

// sendDueFlushes sends the flushes and requests that have been delayed for long enough, and returns of how
// many channels.
func (e *Engine) sendDueFlushes() (n int) {
	for i := len(e.delayed) - 1; i >= 0; i-- {
		c := e.delayed[i]
		if c.seen != c.issued {
			c.seen, c.delays = c.issued, 0
		}
		c.delays++
		switch expected := e.p.Woken(); {
		case expected && e.p.Polling() && c.delays < delaysMax>>c.delayShift:
			continue
		case expected:
			c.delayShift = min(c.delayShift+1, delayShiftMax)
		default:
			c.delayShift = max(c.delayShift-1, 0)
		}
		e.sendFlushNow(c)
		e.p.SendHeld(int(c.target.process))
		n++
		last := len(e.delayed) - 1
		e.delayed[i], e.delayed[last] = e.delayed[last], nil
		e.delayed = e.delayed[:last]
		e.p.Later(-1)
		c.delayed = false
	}
	return n
}

// sendFlushNow sends the flush of c if one is delayed.
func (e *Engine) sendFlushNow(c *channel) {
	if c.delayed && c.wanted > c.asked && c.asked == c.done {
		e.sendFlush(c)
	}
}

// sendFlush sends the flush that is wanted, behind or together with what was sent before.
func (e *Engine) sendFlush(c *channel) {
	if e.p.DownCause(int(c.target.process)) != nil {
		return
	}
	c.asked, c.wanted = c.issued, c.issued
	if !e.releaseThen(c, wire.ThenFlush, c.asked) {
		e.send(c, kindFlush)
	}
}

// markNow is the mark of all that was sent until now, for waits that are local.
func (c *channel) markNow() mark { return mark{at: c.issued} }

// keep makes m the mark of a flush of several channels. Another goroutine may be in such a flush:
// the completion at the target that it waits for stays in the mark, also if m is that of a local
// flush.
func (c *channel) keep(m mark) { c.mark = mark{m.at, max(m.done, c.mark.done)} }

// requestFlushes keeps the marks of all channels of t, and unless it is local requests flushes up
// to them.
func (e *Engine) requestFlushes(t *target, local bool) {
	for c := range t.channels {
		c.keep(e.markOf(c, local))
	}
}

// waitMarks waits for the marks that requestFlushes has kept, and returns the first error of an
// operation without a request. The lock is held; others may hold it in between and raise the marks:
// then it waits for more than it has to.
func (e *Engine) waitMarks(t *target, local bool, about proc.About) error {
	var first error
	for c := range t.channels {
		first = firstOf(first, e.waitMark(c, c.mark, local, about))
	}
	return first
}

// mergeChannels completes at the origin, and unless it is local at the target, what was sent by all
// channels, if t has others than the main one. A frame that follows on the main one is then behind
// everything. It also sends coalesced frames that are being filled, whose operations are complete
// at the origin already.
func (e *Engine) mergeChannels(t *target, local bool, about proc.About) error {
	if len(t.others) == 0 {
		return nil
	}
	for c := range t.channels {
		if c != &t.main {
			e.release(c)
		}
	}
	e.requestFlushes(t, local)
	return e.waitMarks(t, local, about)
}

// sendUnlock releases the lock of t behind all that was sent by its main channel, and returns the
// mark at which that is done. Other channels have nothing under way. The lock of the engine is
// held.
func (e *Engine) sendUnlock(t *target) mark {
	c := &t.main
	if e.p.DownCause(int(t.process)) == nil {
		c.issued++
		c.quiet, c.asked, c.wanted = c.issued, c.issued, c.issued
		if !e.releaseThen(c, wire.ThenUnlock, c.asked) {
			e.send(c, kindUnlock)
		}
	}
	return mark{c.issued, c.asked}
}

// sendComplete tells the target, behind all that was sent by its main channel, that the access
// epoch has ended. All frames of other channels are sent.
func (e *Engine) sendComplete(t *target) {
	if e.p.DownCause(int(t.process)) == nil {
		if !e.releaseThen(&t.main, wire.ThenComplete, 0) {
			e.send(&t.main, kindEnd)
		}
	}
}

// send appends a control frame to the queue of c.
func (e *Engine) send(c *channel, k Kind) {
	o := e.newOperation(nil, c, &Op{Kind: k}, 0)
	o.at = c.issued
	e.enqueue(o)
}

// reached reports whether all up to m is complete at the origin, and unless it is local at the
// target.
func (c *channel) reached(m mark, local bool) bool {
	return (c.oldest == nil || c.oldest.at > m.at) && (local || c.done >= m.done)
}

// waitMark returns when all up to m is complete at the origin, and unless it is local at the
// target. It returns, and forgets, the first error of an operation without a request. about says
// who waits. The lock is held; others may hold it in between.
func (e *Engine) waitMark(c *channel, m mark, local bool, about proc.About) error {
	t := c.target
	e.reachMark(c, m, local, about)
	err := c.fault
	c.fault = nil
	if cause := e.p.DownCause(int(t.process)); cause != nil && !c.reached(m, local) {
		err = gone(t.rank, cause)
	}
	return err
}

// reachMark returns when m is reached, or never will be. The lock is held; others may hold it in
// between.
func (e *Engine) reachMark(c *channel, m mark, local bool, about proc.About) {
	t := c.target
	if !c.reached(m, local) && e.p.DownCause(int(t.process)) == nil {
		var w *markWaiter
		if n := len(e.parked); n > 0 {
			w = e.parked[n-1]
			e.parked = e.parked[:n-1]
		} else {
			w = &markWaiter{}
			w.YieldOften(true) // a service of the target answers, for which there may be no other core
		}
		w.mark, w.local, w.About = m, local, about
		c.waits = append(c.waits, w)
		e.p.Wait(&w.Event, int(t.process))
		for i, o := range c.waits {
			if o == w {
				last := len(c.waits) - 1
				c.waits[i], c.waits[last] = c.waits[last], nil
				c.waits = c.waits[:last]
				break
			}
		}
		w.Reset()
		w.About = nil
		e.parked = append(e.parked, w)
	}
}

// notify wakes those whose mark is reached, or never will be, and reports whether others wait for
// the target.
func (c *channel) notify() (others bool) {
	if len(c.flushes) > 0 {
		c.notifyFlushes()
	}
	t := c.target
	for _, w := range c.waits {
		if c.reached(w.mark, w.local) || t.w.e.p.DownCause(int(t.process)) != nil {
			w.Fire()
		} else if !w.local {
			others = true
		}
	}
	return others
}

// requestLock asks the target for its lock; the answer goes to Window.granted.
func (e *Engine) requestLock(t *target, exclusive bool) {
	e.hdr = wire.Header{Kind: wire.WinLock, Ctx: t.w.id}
	if exclusive {
		e.hdr.Flags = wire.Exclusive
	}
	e.p.Queue(int(t.process), &e.hdr, nil, nil)
}

// sendGrant tells a process that it has the lock of this one in w; or with a class and a number why
// it has not.
func (e *Engine) sendGrant(w *Window, process int32, c class.Class, arg int64) {
	e.hdr = wire.Header{Kind: wire.WinGrant, Ctx: w.id, Aux: uint32(c), Arg: uint64(arg)}
	e.p.Queue(int(process), &e.hdr, nil, nil)
}

// sendPost tells a process that the own memory in w is exposed to it.
func (e *Engine) sendPost(w *Window, process int32) {
	e.hdr = wire.Header{Kind: wire.WinPost, Ctx: w.id}
	e.p.Queue(int(process), &e.hdr, nil, nil)
}
