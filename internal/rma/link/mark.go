package link

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/operation"
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

// Idle reports whether nothing is under way to t and no error is to be reported.
func (t *Target) Idle() bool {
	if len(t.others) == 0 {
		return t.main.Idle()
	}
	for c := range t.Channels {
		if !c.Idle() {
			return false
		}
	}
	return true
}

// Idle reports whether nothing is under way by c and no error is to be reported.
func (c *Channel) Idle() bool {
	return c.oldest == nil && c.quiet <= c.done && c.fault == nil && c.lastShared <= c.target.main.done
}

// requestFlush requests a WinDone for all that was sent by c, and returns the mark to wait for. At
// most one flush of a channel is under way: goroutines that flush meanwhile share the next one,
// together with their puts. With 32 goroutines that is several times faster, and with two not
// slower. The caller waits.
func (l *Link) requestFlush(c *Channel) mark {
	if c.quiet > c.wanted && !(planted.FlushShared && c.asked != c.done) {
		c.wanted = c.issued
		if c.asked == c.done {
			l.sendFlushSoon(c)
		}
	}
	return mark{c.issued, c.wanted}
}

// sendFlushSoon sends the flush when the goroutines have run that were woken and have not run yet:
// most of them put and flush again. One flush of all then replaces one of the first and one of the
// others, which halves the time with two and four goroutines. The caller is about to wait for the
// flush, or has found that a goroutine polls which waits for it: that goroutine sends it
// (sendDueFlushes) before it may sleep.
func (l *Link) sendFlushSoon(c *Channel) {
	if l.p.Woken() {
		l.delay(c)
	} else {
		l.sendFlush(c)
	}
}

// delay has sendDueFlushes send what c holds, and the flush that is wanted then.
func (l *Link) delay(c *Channel) {
	if !c.delayed {
		c.delayed, c.delays, c.seen = true, 0, c.issued
		l.delayed = append(l.delayed, c)
		l.p.Later(1)
	}
}

// holdRequest holds the frame with header l.hdr, a request of o, if goroutines have been woken and have
// not run yet: as with flushes, most of them make requests, too, and one system call then sends all. It
// reports whether it did. Operations with a request of MPI are not held, since the caller need not wait.
func (l *Link) holdRequest(o *Operation, payload []byte) bool {
	c := o.channel
	if o.awaits == 0 || o.Request != nil || planted.RequestsAlone || !l.p.Woken() || !l.p.SendSoon(int(c.target.Process), &l.hdr, payload) {
		return false
	}
	l.delay(c)
	return true
}

// delaysMax is for how many polls in a row, during which no operation is added, a flush is delayed
// at most: about a round trip. The goroutines that are expected may be on a thread that waits for a
// core, for a tick of the kernel or longer. So each delay after which they still have not run
// halves those that follow (Channel.delayShift), and each that was useful doubles them.
const delaysMax = 32

// delayShiftMax leaves two polls.
const delayShiftMax = 4

// sendDueFlushes sends the flushes and requests that have been delayed for long enough, and returns of how
// many channels.
func (l *Link) sendDueFlushes() (n int) {
	for i := len(l.delayed) - 1; i >= 0; i-- {
		c := l.delayed[i]
		if c.seen != c.issued {
			c.seen, c.delays = c.issued, 0
		}
		c.delays++
		switch expected := l.p.Woken(); {
		case expected && l.p.Polling() && c.delays < delaysMax>>c.delayShift:
			continue
		case expected:
			c.delayShift = min(c.delayShift+1, delayShiftMax)
		default:
			c.delayShift = max(c.delayShift-1, 0)
		}
		l.sendFlushNow(c)
		l.p.SendHeld(int(c.target.Process))
		n++
		last := len(l.delayed) - 1
		l.delayed[i], l.delayed[last] = l.delayed[last], nil
		l.delayed = l.delayed[:last]
		l.p.Later(-1)
		c.delayed = false
	}
	return n
}

// sendFlushNow sends the flush of c if one is delayed.
func (l *Link) sendFlushNow(c *Channel) {
	if c.delayed && c.wanted > c.asked && c.asked == c.done {
		l.sendFlush(c)
	}
}

// sendFlush sends the flush that is wanted, behind or together with what was sent before.
func (l *Link) sendFlush(c *Channel) {
	if l.p.DownCause(int(c.target.Process)) != nil {
		return
	}
	c.asked, c.wanted = c.issued, c.issued
	if !l.releaseThen(c, wire.ThenFlush, c.asked) {
		l.send(c, kindFlush)
	}
}

// markNow is the mark of all that was sent until now, for waits that are local.
func (c *Channel) markNow() mark { return mark{at: c.issued} }

// keep makes m the mark of a flush of several channels. Another goroutine may be in such a flush:
// the completion at the target that it waits for stays in the mark, also if m is that of a local
// flush.
func (c *Channel) keep(m mark) { c.mark = mark{m.at, max(m.done, c.mark.done)} }

// RequestFlushes keeps the marks of all channels of t, and unless it is local requests flushes up
// to them.
func (l *Link) RequestFlushes(t *Target, local bool) {
	for c := range t.Channels {
		c.keep(l.markOf(c, local))
	}
}

// AwaitFlushes waits for the marks that RequestFlushes has kept, and returns the first error of an
// operation without a request. Others may hold the lock in between and raise the marks:
// then it waits for more than it has to.
func (l *Link) AwaitFlushes(t *Target, local bool, about proc.About) error {
	var first error
	for c := range t.Channels {
		first = cmp.Or(first, l.waitMark(c, c.mark, local, about))
	}
	return first
}

// mergeChannels completes at the origin, and unless it is local at the target, what was sent by all
// channels, if t has others than the main one. A frame that follows on the main one is then behind
// everything. It also sends coalesced frames that are being filled, whose operations are complete
// at the origin already.
func (l *Link) mergeChannels(t *Target, local bool, about proc.About) error {
	if len(t.others) == 0 {
		return nil
	}
	for c := range t.Channels {
		if c != &t.main {
			l.Release(c)
		}
	}
	l.RequestFlushes(t, local)
	return l.AwaitFlushes(t, local, about)
}

// sendUnlock releases the lock of t behind all that was sent by its main channel, and returns the
// mark at which that is done. Other channels have nothing under way.
func (l *Link) sendUnlock(t *Target) mark {
	c := &t.main
	if l.p.DownCause(int(t.Process)) == nil {
		c.issued++
		c.quiet, c.asked, c.wanted = c.issued, c.issued, c.issued
		if !l.releaseThen(c, wire.ThenUnlock, c.asked) {
			l.send(c, kindUnlock)
		}
	}
	return mark{c.issued, c.asked}
}

// SendUnlock gives the lock of t back, to which nothing is under way by other channels than the main one.
func (l *Link) SendUnlock(t *Target) { l.sendUnlock(t) }

// SendComplete tells the target, behind all that was sent by its main channel, that the access
// epoch has ended. All frames of other channels are sent.
func (l *Link) SendComplete(t *Target) {
	if l.p.DownCause(int(t.Process)) == nil {
		if !l.releaseThen(&t.main, wire.ThenComplete, 0) {
			l.send(&t.main, kindEnd)
		}
	}
}

// send appends a control frame to the queue of c.
func (l *Link) send(c *Channel, k operation.Kind) {
	o := l.newOperation(c, &operation.Op{Kind: k}, 0)
	o.at = c.issued
	l.enqueue(o)
}

// reached reports whether all up to m is complete at the origin, and unless it is local at the
// target.
func (c *Channel) reached(m mark, local bool) bool {
	return (c.oldest == nil || c.oldest.at > m.at) && (local || c.done >= m.done)
}

// waitMark returns when all up to m is complete at the origin, and unless it is local at the
// target. It returns, and forgets, the first error of an operation without a request. about says
// who waits.
func (l *Link) waitMark(c *Channel, m mark, local bool, about proc.About) error {
	t := c.target
	l.reachMark(c, m, local, about)
	err := c.fault
	c.fault = nil
	if cause := l.p.DownCause(int(t.Process)); cause != nil && !c.reached(m, local) {
		err = Gone(t.Rank, cause)
	}
	return err
}

// reachMark returns when m is reached, or never will be.
func (l *Link) reachMark(c *Channel, m mark, local bool, about proc.About) {
	t := c.target
	if !c.reached(m, local) && l.p.DownCause(int(t.Process)) == nil {
		var w *markWaiter
		if n := len(l.parked); n > 0 {
			w = l.parked[n-1]
			l.parked = l.parked[:n-1]
		} else {
			w = &markWaiter{}
			w.YieldOften(true) // a service of the target answers, for which there may be no other core
		}
		w.mark, w.local, w.About = m, local, about
		c.waits = append(c.waits, w)
		l.p.Wait(&w.Event, int(t.Process))
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
		l.parked = append(l.parked, w)
	}
}

// notify wakes those whose mark is reached, or never will be, and reports whether others wait for
// the target.
func (c *Channel) notify() (others bool) {
	if len(c.flushes) > 0 {
		c.notifyFlushes()
	}
	t := c.target
	for _, w := range c.waits {
		if c.reached(w.mark, w.local) || t.link.p.DownCause(int(t.Process)) != nil {
			w.Fire()
		} else if !w.local {
			others = true
		}
	}
	return others
}

// markOf is the mark of all that was issued by c. Unless it is local, it requests a flush up to
// there.
func (l *Link) markOf(c *Channel, local bool) mark {
	if local {
		return c.markNow()
	}
	return l.requestFlush(c)
}

// Settle waits until all that was sent to t is complete at the origin, and unless it is local at the target. It returns, and
// forgets, the first error of an operation without a request.
func (l *Link) Settle(t *Target, local bool, about proc.About) error {
	if c := &t.main; len(t.others) == 0 { // the same with less work
		return l.waitMark(c, l.markOf(c, local), local, about)
	}
	l.RequestFlushes(t, local)
	return l.AwaitFlushes(t, local, about)
}

// AwaitIssued is Settle of what was issued until now, and leaves errors to others.
func (l *Link) AwaitIssued(t *Target, local bool, about proc.About) {
	type moment struct {
		c *Channel
		mark
	}
	var all []moment // not Channel.mark, which a flush of another goroutine may be using
	for c := range t.Channels {
		all = append(all, moment{c, l.markOf(c, local)})
	}
	for _, m := range all {
		l.reachMark(m.c, m.mark, local, about)
	}
}

// Unlock completes everything at t and gives its lock back.
func (l *Link) Unlock(t *Target, about proc.About) error {
	err := l.mergeChannels(t, false, about)
	return cmp.Or(err, l.waitMark(&t.main, l.sendUnlock(t), false, about))
}

// Complete tells t that the access epoch has ended, behind all that was sent, and waits until that is complete at the
// origin.
func (l *Link) Complete(t *Target, about proc.About) error {
	err := l.mergeChannels(t, true, about)
	l.SendComplete(t)
	return cmp.Or(err, l.waitMark(&t.main, t.main.markNow(), true, about))
}
