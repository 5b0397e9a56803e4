package rma

import (
	"maps"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/peers"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Operations by frames, the origin's side
//
// Operations to one target by one channel keep their order: they are numbered (operationLink.at)
// and pass one after the other through the queue of their channel, whose first one is cut into
// frames (frames.go). A short operation that finds the queue empty never enters it. Work advances
// the queues of all channels in turn, a few frames each, so that a long operation delays its own
// channel only.
//
// The target applies frames in the order in which they come. So a put or accumulate needs no
// answer: a WinFlush behind it, answered by a WinDone, reports that everything before is complete.
// Gets, and accumulates with a result, are requests: each is answered by a frame that carries the
// handle of the operation. A target keeps at most requestsMax answers for each of its peers, and
// takes down a peer that asks for more. The origin counts its requests, and the excess waits in the
// queue. At most one frame of the queues to a peer is in the send queue of its process. Short
// operations without an answer are coalesced (bundle).
//
// An operation is complete at the origin when its frames are sent and the answers have come.
// Operations that are not complete are listed by number (track), so that a flush waits for those
// that were there when it began, and not for those that others start meanwhile.

const (
	// requestsMax is for how many requests of a process each of its peers keeps the answers: enough
	// to fill a round trip at any rate at which one process asks. Times wire.MaxPayload it bounds
	// what a hostile peer costs.
	requestsMax = 128
	// queueTurn is how much of a queue is sent before the next queue has its turn, in bytes, and
	// frameCost what a frame costs beside its payload.
	queueTurn = 256 << 10
	frameCost = 1 << 10
)

// windowLink is the state of frames of a window.
type windowLink struct {
	// faults are those of operations without a request, of which the sender has not been told: at
	// most one, the first, for each channel of each member.
	faults map[faultKey]fault
	// broken are operations with a notification that have been refused in part, by their channel:
	// their last frame is still to come, and notifies nobody.
	broken map[faultKey]bool
	// denied says why an operation of several frames is refused as a whole, by its channel: the
	// last such operation of each.
	denied map[faultKey]fault
	opened bool    // all members are known
	early  []int32 // processes that had posted before
}

// engineLink is the state of frames of a process.
type engineLink struct {
	peers      peers.Table[linkPeer]
	queues     []*channel // with operations in their queue
	names      p2p.HandleTable[operation]
	hdr        wire.Header   // scratch: headers handed to a fabric must not escape
	runs       [runsMax]runs // scratch
	pieces     []block       // scratch
	free       []*reply      // for reuse
	pages      [][]byte      // of pageSize, for reuse
	parked     []*markWaiter // for reuse
	answering  []int         // peers with gets that are being answered
	coalescing []*channel    // with a coalesced frame that is being filled
	spare      []*bundle     // for reuse
	delayed    []*channel    // whose flush is delayed, so that others join it
}

// linkPeer is the state of frames of a peer.
type linkPeer struct {
	requests int  // of this process without an answer yet
	stuck    bool // a frame of a queue is in the send queue of the process

	refused bool         // it has broken a rule, and is about to be down
	asked   int          // requests of the peer whose answer is not sent
	gets    []pendingGet // among them those that are answered in pieces; from next on
	next    int
	piece   bool // a frame of those is in the send queue
	telling bool // a fault of an operation without a request is in the send queue

	checking bool // the answer to a question of the peer's checker is in the send queue
}

// operationLink is the state of frames of an operation.
type operationLink struct {
	at          uint64 // its number
	prev, next  *operation
	moved       int64  // bytes of the target for which frames have been made
	announced   int64  // bytes of the target that WinSpan has announced
	got         int64  // bytes of the result that have come
	awaits      int    // requests without an answer yet
	name        uint64 // its handle, while there are some
	sent        bool   // all frames are made
	queued      bool   // the last one made is in the send queue
	inFlight    bool   // not complete, and listed from channel.oldest to newest
	failed      error
	there       dtype.Buffer // the layout at the target, if that is not contiguous
	inRuns      bool         // there is the layout
	byPiece     bool         // a get with a request for each piece
	page        []byte       // the frame in the send queue, if it was packed
	few         [8]byte      // a payload
	bundle      *bundle      // of kindBundle
	viewChannel *channel     // the channel of its view, if it goes by the main one instead
}

// Kinds of entries of a queue that are no operation of a call.
const (
	kindFlush Kind = 100 + iota
	kindUnlock
	kindEnd // of an access epoch
	kindBundle
	kindSignal // a notification alone
)

// remote sends an operation to its target, and ends it when it is complete. The lock is held.
func (e *Engine) remote(o *operation) {
	t := o.target
	if cause := e.p.DownCause(int(t.process)); cause != nil {
		e.finish(o, gone(t.rank, cause))
		return
	}
	e.shareMain(o)
	e.prioritize(o)
	e.flushBefore(o)
	c := o.channel
	c.issued++
	o.at = c.issued
	if o.Kind == kindSignal {
		o.noteShared()
		e.sendSignal(o)
		return
	}
	if o.size() == 0 || o.Kind == Accumulate && o.Fn == op.NoOp && !o.answers() {
		e.finish(o, nil)
		return
	}
	if o.Place.Type != nil {
		if err := o.lay(); err != nil {
			e.finish(o, err)
			return
		}
	}
	o.byPiece = o.Kind == Get && !o.inRuns && o.view != nil && o.view.inOrder()
	if !o.answers() {
		c.quiet = o.at
	}
	o.noteShared()
	if o.coalescible() && !o.inRuns && e.coalesce(c, &o.Op, o.off, o.at) {
		if o.Notify != 0 { // the target may wait for it
			e.releaseThen(c, wire.ThenNotify, uint64(o.Notify-1))
		}
		e.finish(o, nil)
		return
	}
	if !planted.BundlePassed {
		e.release(c)
	}
	e.enqueue(o)
}

// lay finds the layout of the data at the target. Contiguous data need no description.
func (o *operation) lay() (err error) {
	o.there, err = dtype.At(nil, o.Place.Type, o.Place.Count)
	if err != nil {
		return err
	}
	var one [1]dtype.Run
	if _, next := o.there.Runs(one[:], 0, o.there.Size()); next == o.there.Size() {
		off, ok := displaced(o.off, one[0].Off)
		if !ok {
			return class.Errorf(class.RMARange, "displacement %d and the type's first byte at %d exceed 64 bits", o.off, one[0].Off)
		}
		o.off = off
		return nil
	}
	o.inRuns = true
	return nil
}

// enqueue sends o at once if the queue of its channel is empty, else it appends o to the queue.
func (e *Engine) enqueue(o *operation) {
	c := o.channel
	if c.first == len(c.queue) && e.advance(o) {
		e.settle(o)
		return
	}
	e.track(o)
	c.queue = append(c.queue, o)
	if !c.listed {
		c.listed = true
		e.queues = append(e.queues, c)
		e.p.SetBusy(1)
	}
}

// settle follows when all frames of o are made.
func (e *Engine) settle(o *operation) {
	switch {
	case o.awaits > 0 || o.queued:
		e.track(o)
	default:
		e.finish(o, o.failed)
	}
}

// track lists o as not complete. Operations are listed in the order of their numbers.
func (e *Engine) track(o *operation) {
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
func (e *Engine) finish(o *operation, err error) {
	c := o.channel
	if o.name != 0 {
		e.names.Remove(o.name)
	}
	if o.page != nil {
		e.givePage(o.page)
	}
	if o.bundle != nil {
		e.freeBundle(o.bundle)
	}
	if err != nil && o.request == nil && c.fault == nil {
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
	e.end(o, err)
	if inFlight {
		c.notify()
	}
}

// workLink advances the queues, and the answers to peers, by a few frames each.
func (e *Engine) workLink() int {
	n := e.sendDueFlushes() + e.releaseAll()
	for i := 0; i < len(e.queues); i++ {
		c := e.queues[i]
		n += e.push(c)
		if c.first == len(c.queue) {
			c.queue, c.first = c.queue[:0], 0
			c.listed = false
			last := len(e.queues) - 1
			e.queues[i], e.queues[last] = e.queues[last], nil
			e.queues = e.queues[:last]
			e.p.SetBusy(-1)
			i--
		}
	}
	if len(e.answering) > 0 {
		n += e.answerGets()
	}
	return n
}

// push sends frames of the first operations in the queue of c, and returns how many steps it has
// made.
func (e *Engine) push(c *channel) int {
	n := 0
	for turn := int64(0); turn < queueTurn && c.first < len(c.queue); {
		o := c.queue[c.first]
		before, told := o.moved, o.announced
		all := e.advance(o)
		if all || o.moved != before || o.announced != told {
			n++
		}
		if !all {
			break // there is no room, or its turn has ended
		}
		turn += o.moved - before + frameCost
		c.queue[c.first] = nil
		c.first++
		if c.first > 64 && c.first > len(c.queue)/2 { // reclaim the room of what is sent
			k := copy(c.queue, c.queue[c.first:])
			clear(c.queue[k:])
			c.queue, c.first = c.queue[:k], 0
		}
		e.settle(o)
	}
	return n
}

// Sent implements proc.Sent: the frame of o that was in the send queue is sent, or never will be.
func (o *operation) Sent(err error) {
	e, t := o.target.w.e, o.target
	e.peers.At(int(t.process)).stuck = false
	o.queued = false
	if o.page != nil {
		e.givePage(o.page)
		o.page = nil
	}
	if err == nil && o.sent && o.awaits == 0 { // else lostLink, its queue or its answer ends it
		e.finish(o, o.failed)
	}
}

// lostLink ends what is under way with a process that has died, in both directions.
func (e *Engine) lostLink(peer int) {
	q := e.peers.At(peer)
	if i := slices.Index(e.answering, peer); i >= 0 {
		e.answering = slices.Delete(e.answering, i, i+1)
		e.p.SetBusy(-1)
	}
	*q = linkPeer{refused: true, gets: q.gets[:0]}
	for i := 0; i < len(e.queues); i++ {
		c := e.queues[i]
		if int(c.target.process) != peer {
			continue
		}
		clear(c.queue)
		c.queue, c.first, c.listed = c.queue[:0], 0, false
		last := len(e.queues) - 1
		e.queues[i], e.queues[last] = e.queues[last], nil
		e.queues = e.queues[:last]
		e.p.SetBusy(-1)
		i--
	}
	for i := 0; i < len(e.coalescing); i++ {
		if c := e.coalescing[i]; int(c.target.process) == peer {
			e.release(c) // it is dropped
			i--
		}
	}
	cause := e.p.DownCause(peer)
	for _, w := range e.windows {
		rank := w.Comm.RankOf(int32(peer))
		if rank < 0 {
			continue
		}
		maps.DeleteFunc(w.faults, func(k faultKey, _ fault) bool { return k.process == int32(peer) })
		maps.DeleteFunc(w.denied, func(k faultKey, _ fault) bool { return k.process == int32(peer) })
		maps.DeleteFunc(w.broken, func(k faultKey, _ bool) bool { return k.process == int32(peer) })
		t := w.targets[rank].Load()
		if t == nil {
			continue
		}
		for c := range t.channels {
			for c.oldest != nil {
				e.finish(c.oldest, gone(rank, cause))
			}
			c.notify()
		}
	}
}

// pageSize is the room of a frame that is packed, in bytes.
const pageSize = wire.MaxPayload

// takePage returns memory for a frame.
func (l *engineLink) takePage() []byte {
	if n := len(l.pages); n > 0 {
		p := l.pages[n-1]
		l.pages = l.pages[:n-1]
		return p
	}
	return make([]byte, pageSize)
}

// givePage frees memory of takePage.
func (l *engineLink) givePage(p []byte) {
	if len(l.pages) < pagesMax {
		l.pages = append(l.pages, p[:pageSize])
	}
}

// pagesMax is how many free pages are kept.
const pagesMax = 64
