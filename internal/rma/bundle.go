package rma

import (
	"math"

	"github.com/halo-mpi/halo/internal/op"
	"github.com/halo-mpi/halo/internal/planted"
	"github.com/halo-mpi/halo/internal/wire"
)

// bundle is a coalesced frame: short puts, or short accumulates with one operation, that are not
// sent yet. A system call costs as much as dozens of them, and a frame that also carries the flush
// which mostly follows saves a second one. So they are kept until something else is sent by their
// channel, until there are many, or until the process polls, which it does whenever it waits. A
// program cannot see the delay: before a flush no call reports that they are done.
//
// They become runs of one frame, in their order. A fault would refuse the whole frame, so that in
// dynamic windows, where only the target knows what is attached, a frame has one operation.
type bundle struct {
	kind  Kind
	op    op.Op
	typ   op.Type
	base  uint64 // displacement of the first
	first uint64 // number of the first
	n     int    // runs
	size  int    // bytes of data
	then  uint8  // flags that say what follows
	at    uint64 // number of what follows, or of the counter
	page  []byte // data from bundleData on; the runs stand before them
	runs  [bundleRuns]runs
	limit int // of size
}

const (
	// bundledMax is the length of the longest operation that is coalesced, in bytes: its copy costs
	// a tenth of a system call.
	bundledMax = 4 << 10
	// bundleRuns is how many runs a coalesced frame has at most.
	bundleRuns = 64
	bundleData = bundleRuns * runSize
	// bundleMax is how many bytes of data it has at most.
	bundleMax = 16 << 10
)

// coalescible reports whether o alone, without its target's state, may be coalesced.
func (o *Op) coalescible() bool {
	return (o.Kind == Put || o.Kind == Accumulate && o.Fn != op.NoOp) && !o.answers() && o.Origin.Contiguous() && o.Origin.Len() <= bundledMax
}

// coalesceNow coalesces a short access without making an operation for it, which would be most of
// the work. It reports whether it did. It takes the lock.
func (e *Engine) coalesceNow(v *View, t *target, a *Op, off uint64) bool {
	if v.number != 0 || a.Notify != 0 || a.Place.Type != nil {
		return false
	}
	e.p.Lock()
	defer e.p.Unlock()
	c := &t.main
	if e.p.DownCause(int(t.process)) != nil || !e.coalesce(c, a, off, c.issued+1) {
		return false
	}
	t.rec.Framed.Store(true)
	c.issued++
	c.quiet = c.issued
	return true
}

// coalesce adds a short access, number at, to the coalesced frame of c, if it may, and reports
// whether it did.
func (e *Engine) coalesce(c *channel, a *Op, off, at uint64) bool {
	t := c.target
	if c.first < len(c.queue) || e.peers.At(int(t.process)).stuck {
		return false
	}
	if a.Notify != 0 && c.bundle == nil {
		return false // there is no frame to join: it is sent from its memory
	}
	if c.bundle != nil && !c.bundle.add(a, off, t.w.dynamic != nil) {
		e.release(c)
		if e.peers.At(int(t.process)).stuck || c.first < len(c.queue) {
			return false
		}
	}
	if c.bundle == nil {
		h := e.newBundle()
		h.kind, h.op, h.typ, h.base, h.first = a.Kind, a.Fn, a.Elem, off, at
		h.limit = min(bundleMax, e.p.ChunkMax(int(t.process))-bundleData)
		if !h.add(a, off, false) {
			e.freeBundle(h)
			return false
		}
		c.bundle = h
		if len(e.coalescing) == 0 {
			e.p.Later(1)
		}
		e.coalescing = append(e.coalescing, c)
	}
	return true
}

// add adds an access if it fits.
func (h *bundle) add(a *Op, at uint64, alone bool) bool {
	origin, _ := a.Origin.Bytes() // as coalescible says
	off, size := int64(at-h.base), len(origin)
	same := a.Fn == h.op || planted.EnvironmentOfTheFirst && a.Fn.Bare() == h.op.Bare()
	if a.Kind != h.kind || !same || a.Elem != h.typ || h.size+size > h.limit || off > math.MaxInt64/2 || off < math.MinInt64/2 ||
		alone && h.n > 0 {
		return false
	}
	last := &h.runs[max(h.n-1, 0)]
	switch {
	case h.n > 0 && last.count == 1 && last.off+last.length == off:
		last.length += int64(size)
	case h.n > 0 && last.length == int64(size) && (last.count == 1 || last.off+last.count*last.stride == off):
		if last.count == 1 || planted.StrideOfTheLast {
			last.stride = off - last.off
		}
		last.count++
	case h.n == bundleRuns:
		return false
	default:
		h.runs[h.n] = runs{off: off, length: int64(size), count: 1}
		h.n++
	}
	copy(h.page[bundleData+h.size:], origin)
	h.size += size
	return true
}

// release sends the coalesced frame of c, or appends it to the queue.
func (e *Engine) release(c *channel) { e.releaseThen(c, 0, 0) }

// releaseThen is release with what follows: a flag, and the number for it. It reports whether there
// was a frame to carry them.
func (e *Engine) releaseThen(c *channel, then uint8, at uint64) bool {
	h := c.bundle
	if h == nil {
		return false
	}
	c.bundle = nil
	for i, o := range e.coalescing {
		if o == c {
			last := len(e.coalescing) - 1
			e.coalescing[i], e.coalescing[last] = e.coalescing[last], nil
			e.coalescing = e.coalescing[:last]
			break
		}
	}
	if len(e.coalescing) == 0 {
		e.p.Later(-1)
	}
	h.then, h.at = then, at
	q := e.peers.At(int(c.target.process))
	if c.first == len(c.queue) && h.open(q) && e.p.Send(int(c.target.process), &e.hdr, e.frameBundle(c, h)) {
		q.requests += h.asks()
		e.freeBundle(h)
		return true
	}
	o := e.newOperation(nil, c, &Op{Kind: kindBundle}, 0)
	o.at, o.bundle = c.issued, h
	e.enqueue(o) // the same frame must be first: a part of it may be sent
	return true
}

// sendBundle sends a coalesced frame from the queue.
func (e *Engine) sendBundle(q *linkPeer, o *operation) bool {
	h := o.bundle
	if !h.open(q) {
		return false
	}
	q.requests += h.asks()
	o.sent = true
	e.sendFrame(q, o, e.frameBundle(o.channel, h))
	return true
}

// asks is how many answers h gets.
func (h *bundle) asks() int {
	if h.then&(wire.ThenFlush|wire.ThenUnlock) != 0 {
		return 1
	}
	return 0
}

// open reports whether a frame can be sent to the target now.
func (h *bundle) open(q *linkPeer) bool { return !q.stuck && q.requests+h.asks() <= requestsMax }

// frameBundle makes e.hdr the header of the coalesced frame, and returns its payload.
func (e *Engine) frameBundle(c *channel, h *bundle) []byte {
	e.hdr = wire.Header{Kind: wire.WinPut, Flags: h.then, Chan: c.number, Ctx: c.target.w.id, Arg: h.base}
	if h.kind == Accumulate {
		e.hdr.Kind, e.hdr.Aux = wire.WinAcc, accumulates(h.op, h.typ)
	}
	front := bundleData
	if h.n > 1 || h.runs[0].count > 1 {
		e.hdr.Tag = int32(h.n)
		front -= h.n * runSize
		for i := range h.n {
			h.runs[i].encode(h.page[front+i*runSize:])
		}
	}
	if h.then == wire.ThenNotify {
		e.hdr.SetCounter(int(h.at))
	} else {
		e.hdr.Name = h.at
	}
	e.hdr.Size = uint32(bundleData + h.size - front)
	return h.page[front : bundleData+h.size]
}

// newBundle returns an empty frame.
func (e *Engine) newBundle() *bundle {
	if n := len(e.spare); n > 0 {
		h := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return h
	}
	return &bundle{page: make([]byte, bundleData+bundleMax)}
}

// freeBundle takes a frame back.
func (e *Engine) freeBundle(h *bundle) {
	if len(e.spare) < pagesMax {
		h.n, h.size, h.then = 0, 0, 0
		e.spare = append(e.spare, h)
	}
}

// releaseAll sends coalesced frames, except those of channels where they go with the next flush.
func (e *Engine) releaseAll() (n int) {
	for i := len(e.coalescing) - 1; i >= 0; i-- {
		if c := e.coalescing[i]; c.wanted <= c.asked {
			e.release(c)
			n++
		}
	}
	return n
}
