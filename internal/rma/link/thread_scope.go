package link

import (
	"github.com/halo-mpi/halo/internal/proc"
	"github.com/halo-mpi/halo/internal/rma/operation"
)

// # Short operations of thread scope
//
// A view with a channel of its own uses it for long operations, and for those with answers. Its
// short puts and accumulates go by the main channel while the queue of that is empty: they share
// frames and flushes with those of other goroutines, and each frame or flush costs a system
// call. With 32 goroutines that put and flush one byte this is three times as fast as a frame
// and a flush for each.
//
// The view's channel records the last operation that went by the main channel
// (Channel.lastShared), and its flush waits for the main channel up to there. No long operation
// comes between: before one enters the queue of the main channel, a flush is requested for the
// operations of views.
//
// The order of the operations of one view is kept: one goes by the main channel only if the queue
// of the view's channel is empty. An operation that follows in the view's channel is sent after the
// coalesced frame of the main channel; if that frame has no room, the operation follows by the
// main channel. In dynamic windows, where a fault must find the view of its operation, no operation
// goes by the main channel.

// shareMain chooses the channel of an operation of a view that has its own.
func (l *Link) shareMain(o *Operation) {
	c, t := o.channel, o.target
	main := &t.main
	if c == main || c.number == priorityNumber {
		return
	}
	if c.first == len(c.queue) && main.first == len(main.queue) && o.Kind <= operation.Accumulate && !o.Answers() && o.Size() <= ShortMax && !t.dynamic {
		l.Release(c)
		if c.first == len(c.queue) {
			o.channel = main
		}
	} else if c.lastShared > main.done && c.first == len(c.queue) {
		l.Release(main)
		if main.first < len(main.queue) && main.queue[main.first].begins() <= c.lastShared {
			o.channel = main
		}
	}
	if o.channel == main {
		o.viewChannel = c
	}
}

// begins is the number of the first operation that o stands for in a queue.
func (o *Operation) begins() uint64 {
	if o.bundle != nil {
		return o.bundle.first
	}
	return o.at
}

// noteShared notes that o, which has its number, goes by another channel than its view's.
func (o *Operation) noteShared() {
	if o.viewChannel != nil {
		o.viewChannel.lastShared, o.channel.shared, o.channel.quiet = o.at, true, o.at
	}
}

// flushBefore requests a flush of the short operations of views before o, which is long, enters
// the queue.
func (l *Link) flushBefore(o *Operation) {
	c := o.channel
	if o.Size() > QueueTurn && (c.wanted > c.asked || c.shared && c.quiet > c.asked) {
		l.sendFlush(c)
	}
}

// flushShared is the mark of the operations of the view of c that went by the main channel. Unless
// it is local it requests a flush of them.
func (l *Link) flushShared(c *Channel, local bool) mark {
	main := &c.target.main
	if !local && c.lastShared > main.asked && c.lastShared > main.wanted {
		l.requestFlush(main)
	}
	return mark{c.lastShared, c.lastShared}
}

// SettleOwn is Settle of the operations that the view of c has issued.
func (l *Link) SettleOwn(c *Channel, local bool, about proc.About) error {
	shared := l.flushShared(c, local)
	return l.waitOwnMarks(c, l.markOf(c, local), shared, local, about)
}

// RequestOwn is RequestFlushes for what the view of c has issued.
func (l *Link) RequestOwn(c *Channel, local bool) {
	c.sharedMark = l.flushShared(c, local)
	c.keep(l.markOf(c, local))
}

// AwaitOwn is AwaitFlushes after RequestOwn.
func (l *Link) AwaitOwn(c *Channel, local bool, about proc.About) error {
	return l.waitOwnMarks(c, c.mark, c.sharedMark, local, about)
}

// waitOwnMarks waits for all operations that the view of c has issued, up to the marks of markOf
// and flushShared. It returns the first error of an operation without a request.
func (l *Link) waitOwnMarks(c *Channel, m, shared mark, local bool, about proc.About) error {
	l.reachMark(&c.target.main, shared, local, about)
	return l.waitMark(c, m, local, about)
}
