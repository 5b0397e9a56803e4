package rma

import "github.com/halo-mpi/halo/internal/proc"

// # Short operations of thread scope
//
// A view with a channel of its own has it for what is long, and for what is answered. Short
// puts and accumulates ride in the main channel as long as nobody stands in line there: with
// those of other goroutines they share frames and flushes, of which each costs a system
// call. With 32 goroutines that put and flush one byte it is three times as fast as a frame
// and a flush for each.
//
// The view's channel remembers the last one that rode (channel.rode), and its flush waits
// for the main channel up to there. Nothing long gets between: before a long operation enters
// the main channel's line, a flush is asked for what has ridden.
//
// The order of what one view issues is kept: it rides only when its own line is empty, and
// what follows in its own channel goes when the main one's bundle has gone; if that finds no
// room, it follows there. In dynamic windows, where a fault may come back that has to find
// its view, nobody rides.

// ride chooses the channel of an operation of a view that has its own. The lock is held.
func (e *Engine) ride(o *operation) {
	c, t := o.channel, o.target
	main := &t.main
	if c == main || c.number == expressNumber {
		return
	}
	if c.first == len(c.line) && main.first == len(main.line) && o.Kind <= Accumulate && !o.answers() && o.size() <= bundledMax && t.w.dynamic == nil {
		e.release(c)
		if c.first == len(c.line) {
			o.channel = main
		}
	} else if c.rode > main.done && c.first == len(c.line) {
		e.release(main)
		if main.first < len(main.line) && main.line[main.first].begins() <= c.rode {
			o.channel = main
		}
	}
	if o.channel == main {
		o.rider = c
	}
}

// begins is the number of the first operation that stands in a line as o.
func (o *operation) begins() uint64 {
	if o.bundle != nil {
		return o.bundle.first
	}
	return o.at
}

// ridden notes that o, which has its number, goes by another channel than its view's. The
// lock is held.
func (o *operation) ridden() {
	if o.rider != nil {
		o.rider.rode, o.channel.ridden, o.channel.quiet = o.at, true, o.at
	}
}

// unmix asks for a flush of what has ridden before o enters the line. The lock is held.
func (e *Engine) unmix(o *operation) {
	c := o.channel
	if o.size() > lineTurn && (c.wanted > c.asked || c.ridden && c.quiet > c.asked) {
		e.askFlush(c)
	}
}

// riding is the mark of what has ridden of c. Unless it is local the target is asked to
// tell. The lock is held.
func (e *Engine) riding(c *channel, local bool) mark {
	main := &c.target.main
	if !local && c.rode > main.asked && c.rode > main.wanted {
		e.farFlush(main)
	}
	return mark{c.rode, c.rode}
}

// farAwaitOwn waits for all that was issued by the view of c, as farMark and riding have
// marked it, and returns the first error of an operation that no request tells of.
func (e *Engine) farAwaitOwn(c *channel, m, ridden mark, local bool, about proc.About) error {
	e.farReach(&c.target.main, ridden, local, about)
	return e.farWait(c, m, local, about)
}
