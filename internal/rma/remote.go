package rma

import (
	"maps"
	"slices"

	"github.com/halo-mpi/halo/internal/class"
	"github.com/halo-mpi/halo/internal/dtype"
	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/p2p"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// # Operations by frames, the origin's side
//
// What goes to one target by one channel keeps its order: operations are numbered (operationLink.at)
// and pass one after the other through the line of their channel, whose first is cut into
// frames (frames.go). An operation that is short and finds the line empty never enters it.
// Work advances the lines of all channels in turn, a few frames each, so that a long
// operation holds up its own channel only.
//
// The target applies frames in the order in which they come, so a put or accumulate
// needs no answer: a WinFlush behind it, answered by a WinDone, tells of all that went
// before. Gets, and accumulates with a result, are requests: each is answered to the
// operation's name. A target keeps at most requestsMax answers for each of its peers,
// and takes down one that asks for more: whoever asks counts, and what exceeds it waits
// in the line. One frame of the lines to a peer at most is in the backlog of its process.
// Short operations that need no answer are collected before they go (bundle).
//
// An operation is complete at the origin when its frames have gone and the answers have
// come. Those that are not are listed by number (open), so that a flush waits for what
// was there when it began, and not for what others start meanwhile.

const (
	// requestsMax is how many requests of a process one of its peers keeps the answers
	// of: enough to fill the way there and back at any rate that one process asks at.
	// With wire.MaxPayload for each it bounds what a hostile peer costs.
	requestsMax = 128
	// lineTurn is how much of a line goes before the next has its turn, in bytes, and
	// frameCost what a frame costs beside its payload.
	lineTurn  = 256 << 10
	frameCost = 1 << 10
)

// windowLink is what frames need to know of a window.
type windowLink struct {
	// faults are the first ones, of what came without a request, that its sender has not
	// been told of: at most one for each channel of each member.
	faults map[faultKey]fault
	// broken says which operations with a notification have been refused in part, by their
	// channel: the last frame is still to come, and notifies nobody.
	broken map[faultKey]bool
	// denied says why operations of several frames are refused whole, by their channel: the
	// last such of each.
	denied map[faultKey]fault
	opened bool    // all members are known
	early  []int32 // processes that had posted before
}

// engineLink is what frames need to know of a process.
type engineLink struct {
	peers   []linkPeer // by index in the job
	lines   []*channel // with operations in their line
	names   p2p.HandleTable[operation]
	hdr     wire.Header   // scratch: headers handed to a fabric must not escape
	runs    [runsMax]runs // scratch
	pieces  []block       // scratch
	free    []*reply      // for reuse
	pages   [][]byte      // of pageSize, for reuse
	parked  []*farWait    // for reuse
	debtors []int         // peers with gets to be answered
	holding []*channel    // that have a bundle
	spare   []*bundle     // for reuse
	delayed []*channel    // whose flush waits for others to join it
}

// linkPeer is what is kept for each process of the job.
type linkPeer struct {
	requests int  // of ours that are not answered
	stuck    bool // a frame of a line is in the backlog

	refused bool      // has broken a rule: it is about to be down
	asked   int       // requests of the peer whose answer has not gone
	gets    []owedGet // among them those that are answered bit by bit; from next on
	next    int
	piece   bool // a frame of those is in the backlog
	telling bool // a fault that nobody waits for is in the backlog

	checking bool // the answer to a check of the peer is in the backlog
}

// operationLink is what frames need to know of an operation.
type operationLink struct {
	at         uint64 // its number
	prev, next *operation
	moved      int64  // bytes of the target that frames have been made for
	told       int64  // bytes of the target that WinSpan has told of
	got        int64  // bytes of the result that have come
	awaits     int    // requests that are not answered
	name       uint64 // while there are some
	sent       bool   // all frames are made
	queued     bool   // the last one made is in the backlog
	flown      bool   // not complete, and so among channel.oldest to newest
	failed     error
	there      dtype.Buffer // how the data lie at the target, if not on end
	ragged     bool         // there says how
	byPiece    bool         // a get whose pieces are asked for one by one
	page       []byte       // the frame in the backlog, if it was made up
	few        [8]byte      // a payload
	bundle     *bundle      // of kindBundle
	rider      *channel     // that of its view, if it goes by the main one instead
}

// Kinds of what stands in a line beside operations.
const (
	kindFlush Kind = 100 + iota
	kindUnlock
	kindEnd // of an access epoch
	kindBundle
	kindSignal // a notification by itself
)

// remote sends an operation to its target, and ends it. The lock is held.
func (e *Engine) remote(o *operation) {
	t := o.target
	if cause := e.p.DownCause(int(t.process)); cause != nil {
		e.finish(o, gone(t.rank, cause))
		return
	}
	e.ride(o)
	e.express(o)
	e.unmix(o)
	c := o.channel
	c.issued++
	o.at = c.issued
	if o.Kind == kindSignal {
		o.ridden()
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
	o.byPiece = o.Kind == Get && !o.ragged && o.view != nil && o.view.inOrder()
	if !o.answers() {
		c.quiet = o.at
	}
	o.ridden()
	if o.brief() && !o.ragged && e.hold(c, &o.Op, o.off, o.at) {
		if o.Notify != 0 { // the target may wait for it
			e.releaseThen(c, wire.ThenNotify, uint64(o.Notify-1))
		}
		e.finish(o, nil)
		return
	}
	if !planted.BundlePassed {
		e.release(c)
	}
	e.launch(o)
}

// lay finds out how the data lie at the target. On end they need no description.
func (o *operation) lay() (err error) {
	o.there, err = dtype.At(nil, o.Place.Type, o.Place.Count)
	if err != nil {
		return err
	}
	var one [1]dtype.Run
	if _, next := o.there.Runs(one[:], 0, o.there.Size()); next == o.there.Size() {
		off, ok := displaced(o.off, one[0].Off)
		if !ok {
			return fail(class.RMARange, "displacement %d and the type's first byte at %d exceed 64 bits", o.off, one[0].Off)
		}
		o.off = off
		return nil
	}
	o.ragged = true
	return nil
}

// launch puts o at the end of its channel's line, or past it.
func (e *Engine) launch(o *operation) {
	c := o.channel
	if c.first == len(c.line) && e.advance(o) {
		e.settle(o)
		return
	}
	e.fly(o)
	c.line = append(c.line, o)
	if !c.listed {
		c.listed = true
		e.lines = append(e.lines, c)
		e.p.SetBusy(1)
	}
}

// settle does what is to be done once all frames of o are made.
func (e *Engine) settle(o *operation) {
	switch {
	case o.awaits > 0 || o.queued:
		e.fly(o)
	default:
		e.finish(o, o.failed)
	}
}

// fly notes that o is not complete. Operations do so in the order of their numbers.
func (e *Engine) fly(o *operation) {
	if o.flown {
		return
	}
	c := o.channel
	o.flown = true
	if o.prev = c.newest; o.prev != nil {
		o.prev.next = o
	} else {
		c.oldest = o
	}
	c.newest = o
}

// finish ends an operation, and tells who waits for it.
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
	flown := o.flown
	if flown {
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
	if flown {
		c.notify()
	}
}

// workLink advances the lines, and the answers to peers, by a few frames each.
func (e *Engine) workLink() int {
	n := e.askDue() + e.releaseAll()
	for i := 0; i < len(e.lines); i++ {
		c := e.lines[i]
		n += e.push(c)
		if c.first == len(c.line) {
			c.line, c.first = c.line[:0], 0
			c.listed = false
			last := len(e.lines) - 1
			e.lines[i], e.lines[last] = e.lines[last], nil
			e.lines = e.lines[:last]
			e.p.SetBusy(-1)
			i--
		}
	}
	if len(e.debtors) > 0 {
		n += e.payOut()
	}
	return n
}

// push makes frames of what stands first in the line of c, and reports how much it did.
func (e *Engine) push(c *channel) int {
	n := 0
	for turn := int64(0); turn < lineTurn && c.first < len(c.line); {
		o := c.line[c.first]
		before, told := o.moved, o.told
		all := e.advance(o)
		if all || o.moved != before || o.told != told {
			n++
		}
		if !all {
			break // no room, or its turn is over
		}
		turn += o.moved - before + frameCost
		c.line[c.first] = nil
		c.first++
		if c.first > 64 && c.first > len(c.line)/2 { // reclaim what has gone
			k := copy(c.line, c.line[c.first:])
			clear(c.line[k:])
			c.line, c.first = c.line[:k], 0
		}
		e.settle(o)
	}
	return n
}

// Sent implements proc.Sent: the frame of o that was in the backlog has gone, or never
// will.
func (o *operation) Sent(err error) {
	e, t := o.target.w.e, o.target
	e.peers[t.process].stuck = false
	o.queued = false
	if o.page != nil {
		e.givePage(o.page)
		o.page = nil
	}
	if err == nil && o.sent && o.awaits == 0 { // else lostLink ends it, or its line or answer does
		e.finish(o, o.failed)
	}
}

// lostLink ends what is under way with a process that is gone, in both directions.
func (e *Engine) lostLink(peer int) {
	q := &e.peers[peer]
	if i := slices.Index(e.debtors, peer); i >= 0 {
		e.debtors = slices.Delete(e.debtors, i, i+1)
		e.p.SetBusy(-1)
	}
	*q = linkPeer{refused: true, gets: q.gets[:0]}
	for i := 0; i < len(e.lines); i++ {
		c := e.lines[i]
		if int(c.target.process) != peer {
			continue
		}
		clear(c.line)
		c.line, c.first, c.listed = c.line[:0], 0, false
		last := len(e.lines) - 1
		e.lines[i], e.lines[last] = e.lines[last], nil
		e.lines = e.lines[:last]
		e.p.SetBusy(-1)
		i--
	}
	for i := 0; i < len(e.holding); i++ {
		if c := e.holding[i]; int(c.target.process) == peer {
			e.release(c) // for nobody
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

// startLink makes what is kept for peers.
func (l *engineLink) startLink(processes int) { l.peers = make([]linkPeer, processes) }

// pageSize is the room of a frame that is made up, in bytes.
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

// givePage takes memory of takePage back.
func (l *engineLink) givePage(p []byte) {
	if len(l.pages) < pagesMax {
		l.pages = append(l.pages, p[:pageSize])
	}
}

// pagesMax is how many free pages are kept.
const pagesMax = 64
