package rma

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/wire"
)

// mark is a moment in what is sent by a channel: all operations up to one of them.
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

// idle reports whether nothing is under way by c and nothing is to be told of it.
func (c *channel) idle() bool {
	return c.oldest == nil && c.quiet <= c.done && c.fault == nil && c.rode <= c.target.main.done
}

// farFlush asks the target to tell when all that was sent by c is done, and returns the
// mark to wait for. One flush of a channel is under way at a time: goroutines that flush meanwhile
// share the next, and what they have put goes with it. With 32 of them that is several
// times faster, and with two not slower. The caller waits. The lock is held.
func (e *Engine) farFlush(c *channel) mark {
	if c.quiet > c.wanted && !(planted.FlushShared && c.asked != c.done) {
		c.wanted = c.issued
		if c.asked == c.done {
			e.askSoon(c)
		}
	}
	return mark{c.issued, c.wanted}
}

// askSoon is askFlush when those have gone on who were woken before and have not yet: most
// will put and flush again. One flush of all then takes the place of one of the first and
// one of the others, which with two and four goroutines halves the time. Whoever calls it is
// about to wait for what is wanted, or has found that somebody polls for one who does: he asks
// (askDue), before he may sleep.
func (e *Engine) askSoon(c *channel) {
	switch {
	case !e.p.Woken():
		e.askFlush(c)
	case !c.delayed:
		c.delayed, c.delays, c.seen = true, 0, c.issued
		e.delayed = append(e.delayed, c)
		e.p.Later(1)
	}
}

// delaysMax is for how many polls in a row, in which nothing is added to it, a flush is
// delayed at most: about a round trip's time. Those who are waited for may have been given
// to a thread that waits for a core which another process has, for a tick of the kernel and
// longer. So each delay that ends in vain halves those that follow (channel.haste), and each
// that was worth it doubles them.
const delaysMax = 32

// hasteMax leaves two polls.
const hasteMax = 4

// askDue sends the flushes that have been delayed for long enough, and reports how many.
func (e *Engine) askDue() (n int) {
	for i := len(e.delayed) - 1; i >= 0; i-- {
		c := e.delayed[i]
		if c.seen != c.issued {
			c.seen, c.delays = c.issued, 0
		}
		c.delays++
		switch vain := e.p.Woken(); {
		case vain && e.p.Polling() && c.delays < delaysMax>>c.haste:
			continue
		case vain:
			c.haste = min(c.haste+1, hasteMax)
		default:
			c.haste = max(c.haste-1, 0)
		}
		n += e.askNow(c)
		last := len(e.delayed) - 1
		e.delayed[i], e.delayed[last] = e.delayed[last], nil
		e.delayed = e.delayed[:last]
		e.p.Later(-1)
		c.delayed = false
	}
	return n
}

// askNow sends the flush of c if one is delayed, and reports how many that were.
func (e *Engine) askNow(c *channel) int {
	if !c.delayed || c.wanted <= c.asked || c.asked != c.done {
		return 0
	}
	e.askFlush(c)
	return 1
}

// askFlush sends the flush that is wanted, behind or with what was sent before.
func (e *Engine) askFlush(c *channel) {
	if e.p.DownCause(int(c.target.process)) != nil {
		return
	}
	c.asked, c.wanted = c.issued, c.issued
	if !e.releaseThen(c, wire.ThenFlush, c.asked) {
		e.send(c, kindFlush)
	}
}

// farHere is the mark of all that was sent until now, for waits that are local.
func (c *channel) farHere() mark { return mark{at: c.issued} }

// keep makes m the mark of a flush of several channels. Another goroutine may be in such a flush:
// what that waits for at the target stays in the mark, also where m is of a local one.
func (c *channel) keep(m mark) { c.mark = mark{m.at, max(m.done, c.mark.done)} }

// farAsk notes how far all channels of t are, and unless it is local has the target tell
// when it is as far.
func (e *Engine) farAsk(t *target, local bool) {
	for c := range t.channels {
		c.keep(e.farMark(c, local))
	}
}

// farAwait waits for what farAsk has asked for, and returns the first error of an operation
// that no request tells of. The lock is held; others may hold it in between, and ask for
// more: then this waits for a little more than it has to.
func (e *Engine) farAwait(t *target, local bool, about proc.About) error {
	var first error
	for c := range t.channels {
		first = firstOf(first, e.farWait(c, c.mark, local, about))
	}
	return first
}

// farGather does both where some but the main channel of t are in use, so that what follows
// on the main one is behind all that went before: also behind what they hold back, which is
// complete at the origin but has not gone.
func (e *Engine) farGather(t *target, local bool, about proc.About) error {
	if len(t.others) == 0 {
		return nil
	}
	for c := range t.channels {
		if c != &t.main {
			e.release(c)
		}
	}
	e.farAsk(t, local)
	return e.farAwait(t, local, about)
}

// farUnlock gives back the lock of t behind all that was sent by its main channel, and
// returns the mark at which that is done. Other channels have nothing under way. The lock of
// the engine is held.
func (e *Engine) farUnlock(t *target) mark {
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

// farComplete tells the target, behind all that was sent by its main channel, that the
// access epoch is over. All frames of other channels are made.
func (e *Engine) farComplete(t *target) {
	if e.p.DownCause(int(t.process)) == nil {
		if !e.releaseThen(&t.main, wire.ThenComplete, 0) {
			e.send(&t.main, kindEnd)
		}
	}
}

// send puts what is no operation at the end of the line of c.
func (e *Engine) send(c *channel, k Kind) {
	o := e.newOperation(nil, c, &Op{Kind: k}, 0)
	o.at = c.issued
	e.launch(o)
}

// reached reports whether all up to m is complete at the origin, and if it is not
// local, at the target.
func (c *channel) reached(m mark, local bool) bool {
	return (c.oldest == nil || c.oldest.at > m.at) && (local || c.done >= m.done)
}

// farWait returns when all up to m is complete at the origin, and unless it is local
// at the target. It returns, and forgets, the first error of an operation that no request
// tells of. about says who waits. The lock is held; others may hold it in between.
func (e *Engine) farWait(c *channel, m mark, local bool, about proc.About) error {
	t := c.target
	e.farReach(c, m, local, about)
	err := c.fault
	c.fault = nil
	if cause := e.p.DownCause(int(t.process)); cause != nil && !c.reached(m, local) {
		err = gone(t.rank, cause)
	}
	return err
}

// farReach returns when m is reached, or never will be. The lock is held; others may hold it
// in between.
func (e *Engine) farReach(c *channel, m mark, local bool, about proc.About) {
	t := c.target
	if !c.reached(m, local) && e.p.DownCause(int(t.process)) == nil {
		var w *farWait
		if n := len(e.parked); n > 0 {
			w = e.parked[n-1]
			e.parked = e.parked[:n-1]
		} else {
			w = &farWait{}
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

// notify wakes those whose mark is reached, or never will be, and reports whether others
// wait for the target.
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
