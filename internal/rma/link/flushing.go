package link

import (
	"cmp"

	"github.com/halo-mpi/halo/internal/p2p"
)

// Flushing is a flush with a request. It waits for one mark in each channel that has operations
// under way, and ends with the last mark.
type Flushing struct {
	Request *p2p.Request
	link    *Link
	left    int   // marks
	err     error // the first
}

// flushMark is what a Flushing waits for in one channel.
type flushMark struct {
	f  *Flushing
	at mark
	// other says that the mark is of operations of another channel, whose faults are not reported.
	other bool
}

// NewFlushing returns a flush by a request, which waits for nothing yet.
func (l *Link) NewFlushing(r *p2p.Request) *Flushing {
	r.YieldOften(true) // see reachMark
	return &Flushing{Request: r, link: l, left: 1}
}

// Cover makes f wait for what is under way to t: by the channel of a number, or with 0 by all.
func (f *Flushing) Cover(t *Target, number uint16) {
	if number == 0 {
		for c := range t.Channels {
			f.cover(c)
		}
		return
	}
	c := t.Numbered(number)
	if c == nil {
		return
	}
	f.cover(c)
	if main := &t.main; c.lastShared > main.done {
		f.left++
		main.flushes = append(main.flushes, flushMark{f, f.link.flushShared(c, false), true})
		f.link.sendFlushNow(main) // a request need not be waited for
		main.notifyFlushes()
	}
}

func (f *Flushing) cover(c *Channel) {
	l := f.link
	if l.p.DownCause(int(c.target.Process)) == nil && c.Idle() {
		return
	}
	f.left++
	c.flushes = append(c.flushes, flushMark{f, l.requestFlush(c), false})
	l.sendFlushNow(c)
	c.notifyFlushes()
}

// Covered says that f covers all that it is to cover.
func (f *Flushing) Covered() { f.reached() }

// reached ends one of the marks that f waits for, and f with the last.
func (f *Flushing) reached() {
	f.left--
	if f.left == 0 {
		f.link.messages.Finish(f.Request, f.err)
	}
}

// notifyFlushes ends the waits for marks that are reached, or never will be.
func (c *Channel) notifyFlushes() {
	t := c.target
	kept := c.flushes[:0]
	for _, m := range c.flushes {
		cause := t.link.p.DownCause(int(t.Process))
		switch {
		case c.reached(m.at, false):
			if !m.other {
				m.f.err = cmp.Or(m.f.err, c.fault)
				c.fault = nil
			}
		case cause != nil:
			m.f.err = cmp.Or(m.f.err, Gone(t.Rank, cause))
		default:
			kept = append(kept, m)
			continue
		}
		m.f.reached()
	}
	clear(c.flushes[len(kept):])
	c.flushes = kept
}
