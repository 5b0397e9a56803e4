package link

import (
	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/rma/operation"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Operations by frames, the origin's side
//
// Operations to one target by one channel keep their order: they are numbered (Operation.at)
// and pass one after the other through the queue of their channel, whose first one is cut into
// frames (frames.go). A short operation that finds the queue empty never enters it. Work advances
// the queues of all channels in turn, a few frames each, so that a long operation delays its own
// channel only.
//
// The target applies frames in the order in which they come. So a put or accumulate needs no
// answer: a WinFlush behind it, answered by a WinDone, reports that everything before is complete.
// Gets, and accumulates with a result, are requests: each is answered by a frame that carries the
// handle of the operation. A target keeps at most RequestsMax answers for each of its peers, and
// takes down a peer that asks for more. The origin counts its requests, and the excess waits in the
// queue. At most one frame of the queues to a peer is in the send queue of its process. Short
// operations without an answer are coalesced (bundle).
//
// An operation is complete at the origin when its frames are sent and the answers have come.
// Operations that are not complete are listed by number (track), so that a flush waits for those
// that were there when it began, and not for those that others start meanwhile.

const (
	// RequestsMax is for how many requests of a process each of its peers keeps the answers: enough
	// to fill a round trip at any rate at which one process asks. Times wire.MaxPayload it bounds
	// what a hostile peer costs.
	RequestsMax = 128
	// QueueTurn is how much of a queue is sent before the next queue has its turn, in bytes, and
	// FrameCost what a frame costs beside its payload.
	QueueTurn = 256 << 10
	FrameCost = 1 << 10
)

// Kinds of entries of a queue that are no operation of a call.
const (
	kindFlush operation.Kind = 100 + iota
	kindUnlock
	kindEnd // of an access epoch
	Coalesced
	Signal // a notification alone: of operations of package rma, too
)

// Send sends an operation to its target, and ends it when it is complete.
func (l *Link) Send(o *Operation) {
	t := o.target
	if cause := l.p.DownCause(int(t.Process)); cause != nil {
		l.finish(o, Gone(t.Rank, cause))
		return
	}
	l.shareMain(o)
	l.prioritize(o)
	l.flushBefore(o)
	c := o.channel
	c.issued++
	o.at = c.issued
	if o.Kind == Signal {
		o.noteShared()
		l.sendSignal(o)
		return
	}
	if o.Size() == 0 || o.Kind == operation.Accumulate && o.Fn == op.NoOp && !o.Answers() {
		l.finish(o, nil)
		return
	}
	if o.Place.Type != nil {
		if err := o.lay(); err != nil {
			l.finish(o, err)
			return
		}
	}
	o.byPiece = o.Kind == operation.Get && !o.inRuns && o.InOrder
	if !o.Answers() {
		c.quiet = o.at
	}
	o.noteShared()
	if Coalescible(&o.Op) && !o.inRuns && l.coalesce(c, &o.Op, o.Off, o.at) {
		if o.Notify != 0 { // the target may wait for it
			l.releaseThen(c, wire.ThenNotify, uint64(o.Notify-1))
		}
		l.finish(o, nil)
		return
	}
	if !planted.BundlePassed {
		l.Release(c)
	}
	l.enqueue(o)
}

// lay finds the layout of the data at the target. Contiguous data need no description.
func (o *Operation) lay() (err error) {
	o.there, err = dtype.At(nil, o.Place.Type, o.Place.Count)
	if err != nil {
		return err
	}
	var one [1]dtype.Run
	if _, next := o.there.Runs(one[:], 0, o.there.Size()); next == o.there.Size() {
		off, ok := operation.Displaced(o.Off, one[0].Off)
		if !ok {
			return class.Errorf(class.RMARange, "displacement %d and the type's first byte at %d exceed 64 bits", o.Off, one[0].Off)
		}
		o.Off = off
		return nil
	}
	o.inRuns = true
	return nil
}

// enqueue sends o at once if the queue of its channel is empty, else it appends o to the queue.
func (l *Link) enqueue(o *Operation) {
	c := o.channel
	if c.first == len(c.queue) && l.advance(o) {
		l.settle(o)
		return
	}
	l.track(o)
	c.queue = append(c.queue, o)
	if !c.listed {
		c.listed = true
		l.queues = append(l.queues, c)
		l.p.SetBusy(1)
	}
}

// settle follows when all frames of o are made.
func (l *Link) settle(o *Operation) {
	switch {
	case o.awaits > 0 || o.queued:
		l.track(o)
	default:
		l.finish(o, o.failed)
	}
}

// track lists o as not complete. Operations are listed in the order of their numbers.
func (l *Link) track(o *Operation) {
	if o.inFlight {
		return
	}
	c := o.channel
	o.inFlight = true
	o.prev = c.newest
	if o.prev != nil {
		o.prev.next = o
	} else {
		c.oldest = o
	}
	c.newest = o
}

// finish ends an operation, and wakes those that wait for it.
func (l *Link) finish(o *Operation, err error) {
	c := o.channel
	if o.name != 0 {
		l.names.Remove(o.name)
	}
	if o.page != nil {
		l.GivePage(o.page)
	}
	if o.bundle != nil {
		l.freeBundle(o.bundle)
	}
	if err != nil && o.Request == nil && c.fault == nil {
		c.fault = err
	}
	inFlight := o.inFlight
	if inFlight {
		if o.prev != nil {
			o.prev.next = o.next
		} else {
			c.oldest = o.next
		}
		if o.next != nil {
			o.next.prev = o.prev
		} else {
			c.newest = o.prev
		}
	}
	l.End(o, err)
	if inFlight {
		c.notify()
	}
}

// Work advances the queues by a few frames each.
func (l *Link) Work() int {
	n := l.sendDueFlushes() + l.releaseAll()
	for i := 0; i < len(l.queues); i++ {
		c := l.queues[i]
		n += l.push(c)
		if c.first == len(c.queue) {
			c.queue, c.first = c.queue[:0], 0
			c.listed = false
			last := len(l.queues) - 1
			l.queues[i], l.queues[last] = l.queues[last], nil
			l.queues = l.queues[:last]
			l.p.SetBusy(-1)
			i--
		}
	}
	return n
}

// push sends frames of the first operations in the queue of c, and returns how many steps it has
// made.
func (l *Link) push(c *Channel) int {
	n := 0
	for turn := int64(0); turn < QueueTurn && c.first < len(c.queue); {
		o := c.queue[c.first]
		before, told := o.moved, o.announced
		all := l.advance(o)
		if all || o.moved != before || o.announced != told {
			n++
		}
		if !all {
			break // there is no room, or its turn has ended
		}
		turn += o.moved - before + FrameCost
		c.queue[c.first] = nil
		c.first++
		if c.first > 64 && c.first > len(c.queue)/2 { // reclaim the room of what is sent
			k := copy(c.queue, c.queue[c.first:])
			clear(c.queue[k:])
			c.queue, c.first = c.queue[:k], 0
		}
		l.settle(o)
	}
	return n
}

// Sent implements proc.Sent: the frame of o that was in the send queue is sent, or never will be.
func (o *Operation) Sent(err error) {
	l, t := o.target.link, o.target
	l.peers.At(int(t.Process)).stuck = false
	o.queued = false
	if o.page != nil {
		l.GivePage(o.page)
		o.page = nil
	}
	if err == nil && o.sent && o.awaits == 0 { // else lostLink, its queue or its answer ends it
		l.finish(o, o.failed)
	}
}
